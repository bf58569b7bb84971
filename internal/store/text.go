package store

import (
	"bytes"
	"strings"
	"unicode"
)

// cleanText makes text storable: PostgreSQL's text allows neither NUL nor invalid UTF-8, and a remote server
// may send both.
func cleanText(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	return strings.ReplaceAll(s, "\x00", "\uFFFD")
}

// cleanJSON makes JSON storable as jsonb, which refuses an escaped NUL.
func cleanJSON(b []byte) []byte {
	if !bytes.Contains(b, []byte(`\u0000`)) {
		return b
	}
	var out []byte
	for i := 0; i < len(b); i++ {
		if b[i] != '\\' || i+1 == len(b) {
			out = append(out, b[i])
			continue
		}
		if bytes.HasPrefix(b[i:], []byte(`\u0000`)) {
			out = append(out, `\ufffd`...)
			i += len(`\u0000`) - 1
			continue
		}
		out = append(out, b[i], b[i+1]) // an escape, as \\: its second character starts none
		i++
	}
	return out
}

// containsPattern returns the ilike pattern for texts that contain q; empty if q is.
func containsPattern(q string) string {
	q = strings.TrimSpace(cleanText(q))
	if q == "" {
		return ""
	}
	return "%" + escapeLike(q) + "%"
}

// prefixPattern returns the ilike pattern for texts that start with q.
func prefixPattern(q string) string { return escapeLike(strings.TrimSpace(cleanText(q))) + "%" }

func escapeLike(q string) string {
	return strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`).Replace(q)
}

// splitWords splits an identifier for search: "getUser_v2" also gives "get", "User" and "v2".
func splitWords(identifier string) string {
	var out strings.Builder
	out.WriteString(identifier)
	out.WriteByte(' ')
	var last rune
	for _, r := range identifier {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			r = ' '
		case unicode.IsUpper(r) && unicode.IsLower(last):
			out.WriteByte(' ')
		}
		out.WriteRune(r)
		last = r
	}
	return out.String()
}
