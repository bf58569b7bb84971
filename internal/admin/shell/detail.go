package shell

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"

	"patchbay/internal/connectors"
	"patchbay/internal/i18n"
)

// Bounds of shown text, in characters.
const (
	MaxName        = 200    // of a title, a parameter or a type
	MaxDescription = 500    // of a description
	MaxNote        = 200    // of a remark
	MaxListText    = 2_000  // of a description in a list
	MaxPageText    = 50_000 // of a description on a page of its own
)

// Bounds of shown JSON, in bytes. A definition may have 8 MiB, and a hundred times that when indented or
// escaped.
const (
	MaxListJSON = 16 << 10  // of a value in a list
	MaxPageJSON = 128 << 10 // of a value on a page of its own
)

// IndentJSON indents JSON, keeping key order and the spelling of numbers. It cuts longer JSON after limit
// bytes, with a note. JSON that would become mostly blanks, as a deep list, stays as it is.
func IndentJSON(ctx context.Context, raw []byte, limit int) string {
	if len(raw) > limit {
		return CleanText(string(raw[:limit])) + i18n.T(ctx, "\n… first %d of %s KiB; use the API to get everything.", limit>>10, i18n.Number(ctx, len(raw)>>10))
	}
	if indentedSize(raw) > 4*limit {
		return CleanText(string(raw))
	}
	return CleanText(IndentedJSON(raw))
}

// IndentedJSON indents JSON. What would become mostly blanks, as a deep list, stays as it is.
func IndentedJSON(raw json.RawMessage) string {
	var out bytes.Buffer
	if indentedSize(raw) > 16*len(raw)+4<<10 || json.Indent(&out, raw, "", "  ") != nil {
		return string(raw)
	}
	return out.String()
}

// indentedSize returns about the size of a JSON text with two blanks for each level.
func indentedSize(raw []byte) int {
	size, depth, quoted := len(raw), 0, false
	for pos := 0; pos < len(raw); pos++ {
		switch c := raw[pos]; {
		case c == '\\':
			pos++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			depth++
			size += 2 * depth
		case c == ',':
			size += 2 * depth
		case c == '}' || c == ']':
			depth--
			size += 2 * depth
		}
	}
	return size
}

// ShortenText cleans remote text and cuts it to limit characters.
func ShortenText(s string, limit int) string {
	if first := FirstRunes(s, limit); len(first) < len(s) {
		return CleanText(first) + "…"
	}
	return CleanText(s)
}

// SaidLine is the first line of what a server said; empty: nothing, or markup.
func SaidLine(u *connectors.Upstream) string {
	if u == nil {
		return ""
	}
	line, _, _ := strings.Cut(strings.TrimSpace(u.Said), "\n")
	if strings.HasPrefix(line, "<") {
		return ""
	}
	return ShortenText(line, MaxDescription)
}

// FirstRunes returns the first characters of a text.
func FirstRunes(s string, limit int) string {
	n := 0
	for offset := range s {
		if n == limit {
			return s[:offset]
		}
		n++
	}
	return s
}
