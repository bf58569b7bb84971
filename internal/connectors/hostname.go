package connectors

import (
	"net/url"
	"strings"
	"unicode"

	"golang.org/x/net/idna"
	"golang.org/x/text/unicode/norm"
)

// asciiURL returns a URL with its internationalised host name in the xn-- form, in which it is stored and looked up (RFC 5891). ok is
// false, and the URL as it was, where the name is no valid one or does not look like what it means.
func asciiURL(raw string) (_ string, ok bool) {
	start, end, found := hostSpan(raw)
	if !found {
		return raw, true // nothing to convert; the URL's own check judges it
	}
	host, err := url.PathUnescape(raw[start:end])
	if err != nil || isASCII(host) {
		return raw, err == nil
	}
	ascii, err := idna.Lookup.ToASCII(host)
	if err != nil {
		return raw, false
	}
	// The mapping reads full-width letters, digits in circles and ideographic dots as ASCII. A name in which it changes more than the
	// case means another host than the one that is seen.
	back, err := idna.Lookup.ToUnicode(ascii)
	if err != nil || back != strings.ToLower(norm.NFC.String(host)) || strings.ContainsFunc(back, isSymbol) || mixesScripts(back) {
		return raw, false
	}
	return raw[:start] + ascii + raw[end:], true
}

// UnicodeURL returns a stored URL with its internationalised host name as people read it; empty where the name has no other form than
// the stored one, or no valid one. It is shown beside the stored form and never in its place: names of two scripts can look alike.
func UnicodeURL(raw string) string {
	start, end, found := hostSpan(raw)
	if !found || !hasPunycode(raw[start:end]) {
		return ""
	}
	host, err := idna.Lookup.ToUnicode(raw[start:end])
	if err != nil || isASCII(host) || strings.ContainsFunc(host, isSymbol) {
		return ""
	}
	return raw[:start] + host + raw[end:]
}

// validPunycode reports whether every xn-- label of a host stands for a valid internationalised name.
func validPunycode(host string) bool {
	for label := range strings.SplitSeq(host, ".") {
		if !hasPunycode(label) {
			continue
		}
		if read, err := idna.Lookup.ToUnicode(label); err != nil || isASCII(read) {
			return false
		}
	}
	return true
}

// isSymbol reports whether a character is none of those that IDNA 2008 has host names made of: letters, marks, digits and hyphens.
func isSymbol(r rune) bool {
	return r != '-' && r != '.' && !unicode.In(r, unicode.Letter, unicode.Mark, unicode.Digit)
}

func hasPunycode(host string) bool {
	for label := range strings.SplitSeq(strings.ToLower(host), ".") {
		if strings.HasPrefix(label, "xn--") {
			return true
		}
	}
	return false
}

// hostSpan finds the host name in a URL, without its port. found is false where there is none, and for an IPv6 address or a user name.
func hostSpan(raw string) (start, end int, found bool) {
	i := strings.Index(raw, "://")
	if i < 0 {
		return 0, 0, false
	}
	start, end = i+3, len(raw)
	if n := strings.IndexAny(raw[start:], `/?#\`); n >= 0 {
		end = start + n
	}
	if strings.ContainsAny(raw[start:end], "@[]") {
		return 0, 0, false
	}
	if n := strings.LastIndexByte(raw[start:end], ':'); n >= 0 {
		end = start + n
	}
	return start, end, start < end
}

// writtenTogether are the scripts of languages that mix them (Unicode Technical Standard 39, section 5.2, "Highly Restrictive").
var writtenTogether = [][]string{
	{"Latin", "Han", "Hiragana", "Katakana"},
	{"Latin", "Han", "Bopomofo"},
	{"Latin", "Han", "Hangul"},
}

// mixesScripts reports whether a label of a host holds letters of scripts that no language writes together, as a Cyrillic а among Latin
// letters.
func mixesScripts(host string) bool {
	for label := range strings.SplitSeq(host, ".") {
		scripts := map[string]bool{}
		for _, r := range label {
			if script := scriptOf(r); script != "" {
				scripts[script] = true
			}
		}
		if len(scripts) > 1 && !anyHolds(writtenTogether, scripts) {
			return true
		}
	}
	return false
}

// scriptOf is the script of a letter; empty for what all scripts share.
func scriptOf(r rune) string {
	for name, table := range unicode.Scripts {
		if name != "Common" && name != "Inherited" && unicode.Is(table, r) {
			return name
		}
	}
	return ""
}

// anyHolds reports whether one of the sets holds all of the scripts.
func anyHolds(sets [][]string, scripts map[string]bool) bool {
	for _, set := range sets {
		n := 0
		for _, script := range set {
			if scripts[script] {
				n++
			}
		}
		if n == len(scripts) {
			return true
		}
	}
	return false
}

func isASCII(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r > unicode.MaxASCII }) < 0
}
