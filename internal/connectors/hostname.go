package connectors

import (
	"net/url"
	"strings"
	"unicode"

	"golang.org/x/net/idna"
	"golang.org/x/text/unicode/norm"
)

// ASCIIURL returns a URL with its internationalised host in xn-- form, for storage and lookup (RFC 5891). ok is
// false, and the URL unchanged, if the name is invalid or misleading, or the URL has more than MaxURL bytes.
func ASCIIURL(raw string) (_ string, ok bool) {
	if len(raw) > MaxURL { // the time of the conversion grows with the square of the length
		return raw, false
	}
	start, end, found := findHost(raw)
	if !found {
		return raw, true // nothing to convert; checkURL decides
	}
	host, err := url.PathUnescape(raw[start:end])
	if err != nil || isASCII(host) {
		return raw, err == nil
	}
	ascii, err := idna.Lookup.ToASCII(host)
	if err != nil {
		return raw, false
	}
	// The mapping turns full-width letters, circled digits and ideographic dots into ASCII. If it changes more
	// than the case, the shown host is not the real one.
	back, err := idna.Lookup.ToUnicode(ascii)
	if err != nil || back != strings.ToLower(norm.NFC.String(host)) || strings.ContainsFunc(back, isSymbol) || mixesScripts(back) {
		return raw, false
	}
	return raw[:start] + ascii + raw[end:], true
}

// UnicodeURL returns a stored URL with its host in Unicode; "" if it has no other valid form. Show it beside
// the stored form, never alone: names of two scripts can look alike.
func UnicodeURL(raw string) string {
	start, end, found := findHost(raw)
	if !found || !hasPunycode(raw[start:end]) {
		return ""
	}
	host, err := idna.Lookup.ToUnicode(raw[start:end])
	if err != nil || isASCII(host) || strings.ContainsFunc(host, isSymbol) {
		return ""
	}
	return raw[:start] + host + raw[end:]
}

// isValidPunycode reports whether every xn-- label of a host is a valid internationalised name.
func isValidPunycode(host string) bool {
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

// isSymbol reports whether a character is not allowed by IDNA 2008: no letter, mark, digit or hyphen.
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

// findHost returns the position of the host in a URL, without port. It finds no IPv6 address and no host after
// a user name.
func findHost(raw string) (start, end int, found bool) {
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

// scriptSets are scripts that languages mix (Unicode Technical Standard 39, section 5.2, "Highly Restrictive").
var scriptSets = [][]string{
	{"Latin", "Han", "Hiragana", "Katakana"},
	{"Latin", "Han", "Bopomofo"},
	{"Latin", "Han", "Hangul"},
}

// mixesScripts reports whether a host label has letters of scripts that no language mixes, such as a Cyrillic а
// among Latin letters.
func mixesScripts(host string) bool {
	for label := range strings.SplitSeq(host, ".") {
		scripts := map[string]bool{}
		for _, r := range label {
			if script := findScript(r); script != "" {
				scripts[script] = true
			}
		}
		if len(scripts) > 1 && !anySetContains(scriptSets, scripts) {
			return true
		}
	}
	return false
}

// findScript returns a letter's script; "" if scripts share it.
func findScript(r rune) string {
	for name, table := range unicode.Scripts {
		if name != "Common" && name != "Inherited" && unicode.Is(table, r) {
			return name
		}
	}
	return ""
}

func anySetContains(sets [][]string, scripts map[string]bool) bool {
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
