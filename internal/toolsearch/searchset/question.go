package searchset

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// Bounds of questions, in words.
const (
	minShort, maxShort       = 3, 8
	minSentence, maxSentence = 7, 45
	phrase                   = 4 // words in a row that a question must not share with the description
	nameWords                = 3 // a name of so many words must not be in a question as words either
)

// CheckQuestion reports a question that breaks a rule: it is too short or too long, has the tool's name, or copies the description.
func CheckQuestion(d Definition, text string, sentence bool) error {
	words := splitWords(text)
	least, most := minShort, maxShort
	if sentence {
		least, most = minSentence, maxSentence
	}
	// What a person counts: URLs and hyphenated words are one.
	if n := len(strings.Fields(text)); n < least || n > most {
		return fmt.Errorf("has %d words, not %d to %d", n, least, most)
	}
	name := splitWords(d.Name)
	if len(name) > 1 && strings.Contains(strings.ToLower(text), strings.ToLower(d.Name)) || len(name) >= nameWords && containsRun(words, name) {
		return fmt.Errorf("has the tool's name %q", d.Name)
	}
	description := splitWords(d.Description)
	for i := 0; i+phrase <= len(words); i++ {
		if run := words[i : i+phrase]; containsRun(description, run) {
			return fmt.Errorf("copies %q from the description", strings.Join(run, " "))
		}
	}
	return nil
}

// NamesProduct reports whether a text has the title of a source.
func NamesProduct(s Source, text string) bool {
	return containsRun(splitWords(text), splitWords(s.Title))
}

// NormalizeQuestion returns the words in lower case: what is equal in that form counts as the same question.
func NormalizeQuestion(text string) string { return strings.Join(splitWords(text), " ") }

// splitWords returns the words in lower case. A capital after a small letter begins a word: the names of tools are written so.
func splitWords(text string) (words []string) {
	var word strings.Builder
	flush := func() {
		if word.Len() > 0 {
			words = append(words, strings.ToLower(word.String()))
			word.Reset()
		}
	}
	small := false
	for _, r := range text {
		switch {
		case r == '\'' || r == '’': // don't is one word
			continue
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			flush()
		default:
			if unicode.IsUpper(r) && small {
				flush()
			}
			word.WriteRune(r)
		}
		small = unicode.IsLower(r)
	}
	flush()
	return words
}

func containsRun(words, run []string) bool {
	for i := 0; len(run) > 0 && i+len(run) <= len(words); i++ {
		if slices.Equal(words[i:i+len(run)], run) {
			return true
		}
	}
	return false
}
