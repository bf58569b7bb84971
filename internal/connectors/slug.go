package connectors

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// MaxSlug is the length of the longest slug.
const MaxSlug = 48

// slugForm is the form of a slug; the database checks the same one.
var slugForm = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,46}[a-z0-9])?$`)

// ValidSlug tells whether s has the form of a slug: 1–48 lower-case letters, digits and inner hyphens.
func ValidSlug(s string) bool { return slugForm.MatchString(s) }

// reserved tells whether s would hide something: a page beside the one of the thing that it names, or a thing named by its id.
func reserved(s string) bool {
	_, isID := Ref(s).UUID()
	return isID || slices.Contains([]string{"new", "test", "import", "export"}, s)
}

// adminAddress is the slug that would have the address at which Patchbay is a server about itself (/mcp/admin). A connector that has it from
// before keeps it, and has no address of its own: agents find it at /mcp, among the others.
const adminAddress = "admin"

// ConnectorSlug is [Slug] for a connector.
func ConnectorSlug(name, fallback string) string {
	s := Slug(name, fallback)
	if s == adminAddress {
		return s + "-connector"
	}
	return s
}

// latin spells the letters that have no decomposition into a letter and an accent.
var latin = strings.NewReplacer("ß", "ss", "æ", "ae", "œ", "oe", "ø", "o", "đ", "d", "ð", "d", "ł", "l", "þ", "th", "ı", "i")

// Slug makes a slug of a name: accents fall away, everything but letters and digits becomes a hyphen. A name without any
// Latin letter or digit gets the fallback, and one that is reserved has it put behind.
func Slug(name, fallback string) string {
	var b strings.Builder
	gap := false
	for _, r := range norm.NFD.String(latin.Replace(strings.ToLower(name))) {
		switch {
		case unicode.Is(unicode.Mn, r) || r == '\'' || r == '’':
			continue // an accent that the decomposition split off; "Ann's" reads better as anns
		case r >= 'a' && r <= 'z' || r >= '0' && r <= '9':
			if gap && b.Len() > 0 {
				b.WriteByte('-')
			}
			gap = false
			b.WriteRune(r)
		default:
			gap = true
		}
	}
	s := b.String()
	if len(s) > MaxSlug {
		s = strings.TrimRight(s[:MaxSlug], "-")
	}
	switch {
	case s == "":
		return fallback
	case reserved(s):
		return s + "-" + fallback
	}
	return s
}
