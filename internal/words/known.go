package words

import "strings"

// known is what a language knows of what other rooms say.
type known struct {
	sentences pairs        // formats of whole texts
	parts     pairs        // formats that stand in others
	fragments map[Key]bool // words that stand in others
}

// learn reads the texts for what other rooms say.
func (l *Language) learn() *known {
	k := &known{sentences: pairs{}, parts: pairs{}, fragments: map[Key]bool{}}
	for key, e := range l.texts {
		if e.forms == nil && strings.Contains(string(key), "%") && !strings.Contains(string(key), "|") && isSentence(string(key)) {
			k.sentences.add(string(key), l.text(key))
		}
	}
	for _, key := range fragments {
		if !strings.Contains(string(key), "%") {
			k.fragments[key] = true
			continue
		}
		k.sentences.add(string(key), l.text(key))
		k.parts.add(string(key), l.text(key))
	}
	return k
}

// isSentence tells what people are told from what they are shown: it ends as a sentence does, or with what somebody else has said.
func isSentence(text string) bool {
	return strings.HasSuffix(text, ".") || strings.HasSuffix(text, "?") || strings.HasSuffix(text, ": %s")
}
