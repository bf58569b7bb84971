package catalog

import (
	"hash/fnv"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Icon is a monogram on a colour, the same in every theme.
type Icon struct {
	Letters string // one or two
	Colour  string // one of [Colours]
}

// Colours are the backgrounds of icons. White letters are readable on each.
var Colours = []string{"slate", "red", "orange", "amber", "lime", "green", "emerald", "teal", "blue", "indigo", "violet", "pink"}

// withDefaults fills missing fields from name and slug, deterministically.
func (i Icon) withDefaults(name, slug string) Icon {
	if i.Letters == "" {
		i.Letters = makeMonogram(name)
	}
	if i.Colour == "" {
		sum := fnv.New32a()
		_, _ = sum.Write([]byte(slug)) // a hash never fails
		i.Colour = Colours[int(sum.Sum32()%uint32(len(Colours)))]
	}
	return i
}

func (i Icon) findDefect() string {
	letters := utf8.RuneCountInString(i.Letters)
	odd := strings.ContainsFunc(i.Letters, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	switch {
	case letters < 1 || letters > 2 || odd:
		return "Use 1–2 letters or digits."
	case !slices.Contains(Colours, i.Colour):
		return "Choose one of the colours " + strings.Join(Colours, ", ") + "."
	}
	return ""
}

// makeMonogram returns the initials of the first two words, or the first two letters of the only one.
func makeMonogram(name string) string {
	words := strings.FieldsFunc(name, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	switch len(words) {
	case 0:
		return "?"
	case 1:
		return titlePrefix(words[0], 2)
	default:
		return titlePrefix(words[0], 1) + titlePrefix(words[1], 1)
	}
}

// titlePrefix returns the first n characters, the first in upper case.
func titlePrefix(word string, n int) string {
	letters := []rune(word)
	letters = letters[:min(n, len(letters))]
	letters[0] = unicode.ToUpper(letters[0])
	return string(letters)
}
