package store

import (
	"bytes"
	"strings"
	"unicode"
)

// clean makes text storable: PostgreSQL's text holds neither NUL nor invalid UTF-8, and a remote server may send both.
func clean(s string) string {
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

// pattern is the ilike pattern of texts that contain q; empty where q is.
func pattern(q string) string {
	q = strings.TrimSpace(clean(q))
	if q == "" {
		return ""
	}
	return "%" + escapeLike(q) + "%"
}

// prefix is the ilike pattern of texts that start with q.
func prefix(q string) string { return escapeLike(strings.TrimSpace(clean(q))) + "%" }

func escapeLike(q string) string {
	return strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`).Replace(q)
}

// words splits an identifier as people search for it: "getUser_v2" is also "get", "User" and "v2".
func words(identifier string) string {
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
