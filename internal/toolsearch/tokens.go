package toolsearch

import (
	"strings"
	"unicode"
	"unicode/utf8"

	snowball "github.com/blevesearch/snowballstem"
	"github.com/blevesearch/snowballstem/english"
	"golang.org/x/text/unicode/norm"
)

// maxWord is the length of a word in bytes. Longer ones are cut: they are encoded data.
const maxWord = 32

// maxJoined is the length of a run that is a word although it is split.
const maxJoined = 16

// splitWords passes the words of text to add, in lower case, not stemmed, until add returns false.
// It splits camelCase, snake_case, kebab-case and paths. A run that it splits once is also a word itself, as names of
// products are: "GitHub" gives git, hub and github; "S3" gives s, 3 and s3.
func splitWords(text string, add func(word []byte) bool) {
	splitWordsInto(make([]byte, 0, maxWord), text, add)
}

// splitWordsInto does it with a buffer of the caller, of maxWord bytes, for the words.
func splitWordsInto(buf []byte, text string, add func(word []byte) bool) {
	for len(text) > 0 {
		size := runLength(text)
		run := text[:size]
		text = text[size:]
		if size == 0 {
			_, skip := utf8.DecodeRuneInString(text)
			text = text[skip:]
			continue
		}
		if !splitRun(run, buf, add) {
			return
		}
	}
}

// runLength returns the length of the letters, digits and marks at the start of text.
func runLength(text string) int {
	for i, r := range text {
		switch {
		case r < utf8.RuneSelf && isWordByte(byte(r)):
		case r >= utf8.RuneSelf && r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r)):
		case r == '\'' && i > 0: // "don't", "user's"
			if rest := text[i+1:]; rest == "" || !isWordByte(rest[0]) {
				return i
			}
		default:
			return i
		}
	}
	return len(text)
}

func isWordByte(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
}

// splitRun splits one run at changes of case and between letters and digits.
func splitRun(run string, buf []byte, add func([]byte) bool) bool {
	if i := strings.IndexByte(run, '\''); i >= 0 {
		run = run[:i]
	}
	if !isASCII(run) {
		run = foldMarks(run)
		if !isASCII(run) {
			return add(append(buf, cutWord(strings.ToLower(run))...))
		}
	}
	if isHash(run) {
		return add(appendLower(buf, cutWord(run)))
	}
	start, parts := 0, 0
	for i := 1; i <= len(run); i++ {
		if i < len(run) && !startsWord(run, i) {
			continue
		}
		if parts++; !add(appendLower(buf, cutWord(run[start:i]))) {
			return false
		}
		start = i
	}
	if parts == 2 && len(run) <= maxJoined {
		return add(appendLower(buf, run))
	}
	return true
}

// isHash reports whether letters and digits alternate in a run as in an id: "a1b2c3d", "6b139d71".
func isHash(run string) bool {
	changes := 0
	for i := 1; i < len(run); i++ {
		if (classifyByte(run[i-1]) == digit) != (classifyByte(run[i]) == digit) {
			changes++
		}
	}
	return changes > 2
}

// startsWord reports whether a word starts at run[i], for i > 0: fooBar, HTTPServer, oauth2, 2fa.
func startsWord(run string, i int) bool {
	previous, c := classifyByte(run[i-1]), classifyByte(run[i])
	switch {
	case c == previous:
		return c == upperCase && i+1 < len(run) && classifyByte(run[i+1]) == lowerCase && !isPluralEnd(run, i+1)
	case previous == upperCase && c == lowerCase:
		return false
	}
	return true
}

// isPluralEnd reports whether run ends at i with the s of a plural: "URLs".
func isPluralEnd(run string, i int) bool {
	return run[i] == 's' && (i+1 == len(run) || classifyByte(run[i+1]) == upperCase)
}

type letterKind uint8

const (
	lowerCase letterKind = iota
	upperCase
	digit
)

func classifyByte(c byte) letterKind {
	switch {
	case 'a' <= c && c <= 'z':
		return lowerCase
	case 'A' <= c && c <= 'Z':
		return upperCase
	}
	return digit
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

func appendLower(buf []byte, s string) []byte {
	for i := range len(s) {
		c := s[i]
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		buf = append(buf, c)
	}
	return buf
}

// cutWord returns at most maxWord bytes of s, whole runes.
func cutWord(s string) string {
	if len(s) <= maxWord {
		return s
	}
	i := maxWord
	for i > 0 && !utf8.RuneStart(s[i]) {
		i--
	}
	return s[:i]
}

// foldMarks removes diacritics: "Übersicht" becomes "Ubersicht". It reads a bounded part of s.
func foldMarks(s string) string {
	if len(s) > 4*maxWord {
		s = s[:4*maxWord]
	}
	var b strings.Builder
	for _, r := range norm.NFKD.String(s) {
		if !unicode.IsMark(r) && r != utf8.RuneError {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// ownStems are words that the stemmer would make equal to a word of another meaning: custom, import, author.
var ownStems = map[string]string{
	"customer": "customer", "customers": "customer", "important": "important", "importance": "important",
	"authorize": "authoriz", "authorizes": "authoriz", "authorized": "authoriz", "authorization": "authoriz", "authorizations": "authoriz",
	"authorise": "authoriz", "authorisation": "authoriz", "authority": "authority", "authorities": "authority",
}

// stemWord returns the stem of an English word; words with digits or other letters stay as they are.
func stemWord(word string) string {
	if stem := ownStems[word]; stem != "" {
		return stem
	}
	for i := range len(word) {
		if word[i] < 'a' || word[i] > 'z' {
			return word
		}
	}
	env := snowball.NewEnv(word)
	english.Stem(env)
	return env.Current()
}

// stopWords are not indexed and not searched.
var stopWords = wordSet(`a about above after again all also am an and any are as at be been before being below between both but by
	can could did do does doing done each either etc for from further had has have having he her here hers him his how
	i if in into is it its itself just kindly let like may me might more most must my need needs no nor not now of off ok on once
	one only onto or other our ours out over own please per s same shall she should so some such t than that the their theirs
	them then there these they this those through to too under until up upon us very want wants was we were what when where
	which while who whom whose why will with within without would yes yet you your yours`)

func wordSet(words string) map[string]bool {
	set := map[string]bool{}
	for word := range strings.FieldsSeq(words) {
		set[word] = true
	}
	return set
}
