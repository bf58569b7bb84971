package connectors

import (
	"fmt"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"patchbay/internal/fault"
)

// Visible replaces the characters that unseen reports by their numbers, as JSON escapes.
func Visible(s string, unseen func(rune) bool) string {
	if strings.IndexFunc(s, unseen) < 0 {
		return s
	}
	var shown strings.Builder
	for _, r := range s {
		if !unseen(r) {
			shown.WriteRune(r)
			continue
		}
		for _, unit := range utf16.Encode([]rune{r}) {
			fmt.Fprintf(&shown, `\u%04x`, unit)
		}
	}
	return shown.String()
}

// Misleads reports whether a character makes a name look like another. A zero-width non-joiner is allowed: some
// languages need it.
func Misleads(r rune) bool {
	const zeroWidthNonJoiner = 0x200c
	return r != zeroWidthNonJoiner && Hidden(r)
}

// MisleadingName is the message for a name with such a character.
const MisleadingName = "No invisible or bidirectional characters allowed."

// nameDefects returns what is wrong with a name of a webhook, a registry or alike, at the location name.
func nameDefects(name string) []fault.Field {
	switch n := utf8.RuneCountInString(name); {
	case n == 0 || n > 100:
		return []fault.Field{{Location: "name", Message: "Must be 1–100 characters."}}
	case strings.ContainsFunc(name, Misleads):
		return []fault.Field{{Location: "name", Message: MisleadingName}}
	}
	return nil
}
