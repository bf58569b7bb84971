package words

import (
	"context"
	"strings"
	"unicode"
	"unicode/utf8"
)

// What rooms say is shorter than that.
const (
	mostSaid  = 2048 // bytes that are looked through for sentences
	mostInOne = 8    // sentences that are known as one
)

// Said is what another room has said, in the context's language. Rooms speak English: what they say is stored, logged and
// sent to programs as well. A sentence is recognised by the words that stand in it each time, and what is between them is put
// into its translation; what is in quotes, and what nobody knows, stays as it is.
func Said(ctx context.Context, text string) string {
	l := Of(ctx)
	if l.known == nil || text == "" || len(text) > mostSaid {
		return text
	}
	return l.said(text)
}

// said translates the longest run of sentences from the beginning that is known, and goes on behind it.
func (l *Language) said(text string) string {
	ends := sentenceEnds(text)
	for i := min(len(ends), mostInOne) - 1; i >= 0; i-- {
		if said, ok := l.whole(text[:ends[i]]); ok {
			return said + l.rest(text[ends[i]:])
		}
	}
	return text[:ends[0]] + l.rest(text[ends[0]:])
}

func (l *Language) rest(text string) string {
	rest := strings.TrimLeft(text, " \n")
	if rest == "" {
		return text
	}
	return text[:len(text)-len(rest)] + l.said(rest)
}

// whole is the translation of a text that is a key, or a format with something in it.
func (l *Language) whole(text string) (string, bool) {
	if e, ok := l.texts[Key(text)]; ok && e.forms == nil {
		return l.text(Key(text)), true
	}
	return l.filled(l.known().sentences, text)
}

// filled is the translation of the format that fits with the most words.
func (l *Language) filled(known pairs, text string) (string, bool) {
	p, holds := known.of(text)
	if p == nil {
		return "", false
	}
	for i, v := range p.english.verbs {
		if v.letter != 's' && v.letter != 'v' {
			continue
		}
		said := l.held(holds[v.takes])
		if said == holds[v.takes] && p.english.texts[i+1] != "" && goesOn(said) {
			return "", false // half a sentence in each language is worse than one in English
		}
		holds[v.takes] = said
	}
	return p.said.fill(holds), true
}

// goesOn tells what reads like a part of an English sentence, and is no name and no list.
func goesOn(text string) bool {
	first, _ := utf8.DecodeRuneInString(text)
	return unicode.IsLower(first) && strings.Count(text, " ") > 1 && !strings.Contains(text, ",")
}

// held translates what stands in a sentence, if it is another sentence, or one of the words that rooms put into theirs.
func (l *Language) held(text string) string {
	if l.known().fragments[Key(text)] {
		return l.text(Key(text))
	}
	if said, ok := l.filled(l.known().parts, text); ok {
		return said
	}
	if !strings.HasSuffix(text, ".") {
		return text
	}
	if said := l.said(Capital(text)); said != Capital(text) {
		return said
	}
	return text
}

// sentenceEnds are the places behind each sentence of a text; the last is the text's end.
func sentenceEnds(text string) []int {
	var ends []int
	for i := 0; i+2 < len(text); i++ {
		if stops := text[i] == '.' || text[i] == '?' || text[i] == '!'; !stops || text[i+1] != ' ' && text[i+1] != '\n' {
			continue
		}
		if next, _ := utf8.DecodeRuneInString(text[i+2:]); !unicode.IsLower(next) {
			ends = append(ends, i+1)
		}
	}
	return append(ends, len(text))
}
