package catalog

import (
	"hash/fnv"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Icon is a monogram on a colour: drawn by us, the same in every theme.
type Icon struct {
	Letters string // one or two
	Colour  string // one of [Colours]
}

// Colours are the grounds of icons. White letters are readable on each of them.
var Colours = []string{"slate", "red", "orange", "amber", "lime", "green", "emerald", "teal", "blue", "indigo", "violet", "pink"}

// complete makes what an entry leaves out of its name and slug, so that it is the same after every start.
func (i Icon) complete(name, slug string) Icon {
	if i.Letters == "" {
		i.Letters = monogram(name)
	}
	if i.Colour == "" {
		sum := fnv.New32a()
		_, _ = sum.Write([]byte(slug)) // a hash takes everything
		i.Colour = Colours[int(sum.Sum32()%uint32(len(Colours)))]
	}
	return i
}

func (i Icon) defect() string {
	letters := utf8.RuneCountInString(i.Letters)
	odd := strings.ContainsFunc(i.Letters, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	switch {
	case letters < 1 || letters > 2 || odd:
		return "An icon has one or two letters or digits."
	case !slices.Contains(Colours, i.Colour):
		return "Choose one of the colours " + strings.Join(Colours, ", ") + "."
	}
	return ""
}

// monogram is the first letter of each of the first two words, or the first two letters of the only one.
func monogram(name string) string {
	words := strings.FieldsFunc(name, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	switch len(words) {
	case 0:
		return "?"
	case 1:
		return head(words[0], 2)
	default:
		return head(words[0], 1) + head(words[1], 1)
	}
}

// head is the first n characters, the first of them in upper case.
func head(word string, n int) string {
	letters := []rune(word)
	letters = letters[:min(n, len(letters))]
	letters[0] = unicode.ToUpper(letters[0])
	return string(letters)
}
