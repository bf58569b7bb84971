package i18n

import "strings"

// knownTexts are the texts of other packages that a language translates.
type knownTexts struct {
	sentences formatIndex  // formats of whole texts
	parts     formatIndex  // formats inside other texts
	fragments map[Key]bool // words inside other texts
}

// loadKnown indexes the texts of other packages.
func (l *Language) loadKnown() *knownTexts {
	k := &knownTexts{sentences: formatIndex{}, parts: formatIndex{}, fragments: map[Key]bool{}}
	for key, e := range l.texts() {
		if e.forms == nil && strings.Contains(string(key), "%") && !strings.Contains(string(key), "|") && isSentence(string(key)) {
			k.sentences.add(string(key), l.translate(key))
		}
	}
	for _, key := range fragments {
		if !strings.Contains(string(key), "%") {
			k.fragments[key] = true
			continue
		}
		k.sentences.add(string(key), l.translate(key))
		k.parts.add(string(key), l.translate(key))
	}
	return k
}

// isSentence reports whether a text is a sentence: it ends as one, or with a text of another source.
func isSentence(text string) bool {
	return strings.HasSuffix(text, ".") || strings.HasSuffix(text, "?") || strings.HasSuffix(text, ": %s")
}
