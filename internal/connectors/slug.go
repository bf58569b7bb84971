package connectors

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// MaxSlug bounds a slug, in characters.
const MaxSlug = 48

// slugPattern is the form of a slug, also checked by the database.
var slugPattern = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,46}[a-z0-9])?$`)

// ValidSlug reports whether s has the form of a slug: 1–48 lower-case letters, digits and inner hyphens.
func ValidSlug(s string) bool { return slugPattern.MatchString(s) }

// hashPattern is the form of the hash in a [ViewSlug].
var hashPattern = regexp.MustCompile(`^[0-9a-f]{8}$`)

// ViewSlug returns the name of a connector in the view of an agent that has several of its accounts: <slug>.<account>, in at most
// [MaxSlug] characters. A longer one, and one of an account that looks like a hash, has a hash in place of the account.
func ViewSlug(slug, account string) string {
	whole := slug + "." + account
	if len(whole) <= MaxSlug && !hashPattern.MatchString(account) {
		return whole
	}
	return strings.TrimRight(slug[:min(len(slug), MaxSlug-suffixLength)], "-") + "." + hashSuffix(whole)[1:]
}

// CutViewSlug returns the connector's slug in the name of a connector in a view, shortened in a name with a hash. ok is false if s
// has the form of no such name.
func CutViewSlug(s string) (slug string, ok bool) {
	slug, account, hasAccount := strings.Cut(s, ".")
	return slug, ValidSlug(slug) && (!hasAccount || ValidSlug(account))
}

// isReservedSlug reports whether s would hide a page, or looks like an id.
func isReservedSlug(s string) bool {
	_, isID := Ref(s).UUID()
	return isID || slices.Contains([]string{"new", "test", "import", "export"}, s)
}

// adminSlug is the path of Patchbay's own server (/mcp/admin). An older connector with it has no address of its
// own; agents reach it at /mcp.
const adminSlug = "admin"

// ConnectorSlug is [Slug] for a connector.
func ConnectorSlug(name, fallback string) string {
	s := Slug(name, fallback)
	if s == adminSlug {
		return s + "-connector"
	}
	return s
}

// latinLetters spells letters that have no decomposition.
var latinLetters = strings.NewReplacer("ß", "ss", "æ", "ae", "œ", "oe", "ø", "o", "đ", "d", "ð", "d", "ł", "l", "þ", "th", "ı", "i")

// Slug makes a slug of a name: accents are dropped, anything but letters and digits becomes a hyphen. Without a
// Latin letter or digit it is the fallback; a reserved one gets the fallback appended.
func Slug(name, fallback string) string {
	var b strings.Builder
	gap := false
	for _, r := range norm.NFD.String(latinLetters.Replace(strings.ToLower(name))) {
		switch {
		case unicode.Is(unicode.Mn, r) || r == '\'' || r == '’':
			continue // a combining accent, or an apostrophe: "Ann's" becomes anns
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
	case isReservedSlug(s):
		return s + "-" + fallback
	}
	return s
}
