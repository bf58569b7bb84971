package httpcall

import (
	"net/url"
	"strings"
	"unicode/utf8"

	"patchbay/internal/jsonschema"
	"patchbay/internal/openapi"
)

// escapeText escapes all but unreserved characters (RFC 3986 section 2.3).
func escapeText(text string) string { return escapeExcept(text, "") }

// escapeReserved leaves reserved characters, and escapes that are there, as they are. What would begin another parameter or a fragment is
// escaped all the same.
func escapeReserved(text string) string { return escapeExcept(text, ":/?@!$'()*,;=%") }

// escapeReservedPath is escapeReserved for a path, which a question mark would end.
func escapeReservedPath(text string) string { return escapeExcept(text, ":/@!$&'()*+,;=%") }

// escapeFor returns the escapes of a parameter.
func escapeFor(p openapi.Parameter) func(string) string {
	switch {
	case p.Reserved && p.In == "path":
		return escapeReservedPath
	case p.Reserved:
		return escapeReserved
	}
	return escapeText
}

func escapeExcept(text, kept string) string {
	const digits = "0123456789ABCDEF"
	var out strings.Builder
	for i := range len(text) {
		c := text[i]
		isPlain := c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9' || strings.IndexByte("-._~", c) >= 0
		if isPlain || strings.IndexByte(kept, c) >= 0 && (c != '%' || isEscape(text[i:])) {
			out.WriteByte(c)
		} else {
			out.Write([]byte{'%', digits[c>>4], digits[c&15]})
		}
	}
	return out.String()
}

func isEscape(text string) bool {
	isHex := func(c byte) bool { return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'f' }
	return len(text) > 2 && isHex(text[1]) && isHex(text[2])
}

// isDotSegment reports whether a segment of a path leads up or nowhere, for a server that decodes once or more.
func isDotSegment(segment string) bool {
	for range 4 {
		if segment == "." || segment == ".." {
			return true
		}
		next, err := url.PathUnescape(segment)
		if err != nil || next == segment {
			return false
		}
		segment = next
	}
	return true
}

// hasDotSegment reports whether a value has a part between slashes that leads out of its place.
func hasDotSegment(v *jsonschema.Node) bool {
	for _, item := range v.Items {
		if hasDotSegment(item) {
			return true
		}
	}
	for _, m := range v.Members {
		if textLeadsOut(m.Name) || hasDotSegment(m.Value) {
			return true
		}
	}
	return v.Is(jsonschema.String) && textLeadsOut(v.Text())
}

// textLeadsOut decodes as often as servers might.
func textLeadsOut(text string) bool {
	for range 4 {
		for part := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == '/' || r == '\\' }) {
			part, _, _ = strings.Cut(part, ";") // some servers ignore what follows
			if part == "." || part == ".." {
				return true
			}
		}
		next, err := url.PathUnescape(text)
		if err != nil || next == text {
			return false
		}
		text = next
	}
	return true
}

// cutText cuts a text at a rune.
func cutText(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	for limit > 0 && !utf8.RuneStart(text[limit]) {
		limit--
	}
	return text[:limit] + "…"
}
