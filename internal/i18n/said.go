package i18n

import (
	"context"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Texts of other packages are within these bounds.
const (
	maxSaidBytes = 2048 // bytes that are searched for sentences
	maxSentences = 8    // sentences that are recognised as one text
)

// TranslateKnown translates an English text of another package, which is also stored, logged and sent to programs. A
// sentence is recognised by its fixed words, and what is between them is inserted into the translation.
// Quotations and unknown parts stay unchanged.
func TranslateKnown(ctx context.Context, text string) string {
	l := FromContext(ctx)
	if l.known == nil || text == "" || len(text) > maxSaidBytes {
		return text
	}
	return l.translateSaid(text)
}

// translateSaid translates the longest known run of sentences from the beginning, and then the rest.
func (l *Language) translateSaid(text string) string {
	ends := sentenceEnds(text)
	for i := min(len(ends), maxSentences) - 1; i >= 0; i-- {
		if translated, ok := l.translateWhole(text[:ends[i]]); ok {
			return translated + l.translateRest(text[ends[i]:])
		}
	}
	return text[:ends[0]] + l.translateRest(text[ends[0]:])
}

func (l *Language) translateRest(text string) string {
	rest := strings.TrimLeft(text, " \n")
	if rest == "" {
		return text
	}
	return text[:len(text)-len(rest)] + l.translateSaid(rest)
}

// translateWhole translates a text that is a key, or matches a format.
func (l *Language) translateWhole(text string) (string, bool) {
	if e, ok := l.texts()[Key(text)]; ok && e.forms == nil {
		return l.translate(Key(text)), true
	}
	return l.translateFormat(l.known().sentences, text)
}

// translateFormat translates by the matching format with the most fixed text.
func (l *Language) translateFormat(known formatIndex, text string) (string, bool) {
	p, holds := known.bestMatch(text)
	if p == nil {
		return "", false
	}
	for i, v := range p.english.verbs {
		if v.letter != 's' && v.letter != 'v' {
			continue
		}
		translated := l.translateArgument(holds[v.takes])
		if translated == holds[v.takes] && p.english.texts[i+1] != "" && isContinuation(translated) {
			return "", false // mixed languages are worse than English
		}
		holds[v.takes] = translated
	}
	return p.translation.fill(holds), true
}

// isContinuation reports whether a text reads like a part of an English sentence, and is no name and no list.
func isContinuation(text string) bool {
	first, _ := utf8.DecodeRuneInString(text)
	return unicode.IsLower(first) && strings.Count(text, " ") > 1 && !strings.Contains(text, ",")
}

// translateArgument translates a part of a sentence that is another sentence, or a known fragment.
func (l *Language) translateArgument(text string) string {
	if l.known().fragments[Key(text)] {
		return l.translate(Key(text))
	}
	if translated, ok := l.translateFormat(l.known().parts, text); ok {
		return translated
	}
	if !strings.HasSuffix(text, ".") {
		return text
	}
	if translated := l.translateSaid(Capital(text)); translated != Capital(text) {
		return translated
	}
	return text
}

// sentenceEnds are the offsets behind each sentence; the last is the text's end.
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
