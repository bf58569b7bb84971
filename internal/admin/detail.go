package admin

import (
	"context"

	"patchbay/internal/i18n"
)

// Bounds of shown text, in characters.
const (
	maxName        = 200    // of a title, a parameter or a type
	maxDescription = 500    // of a description
	maxNote        = 200    // of a remark
	maxListText    = 2_000  // of a description in a list
	maxPageText    = 50_000 // of a description on a page of its own
)

// Bounds of shown JSON, in bytes. A definition may have 8 MiB, and a hundred times that when indented or
// escaped.
const (
	maxListJSON = 16 << 10  // of a value in a list
	maxPageJSON = 128 << 10 // of a value on a page of its own
)

// indentJSON indents JSON, keeping key order and the spelling of numbers. It cuts longer JSON after limit
// bytes, with a note. JSON that would become mostly blanks, as a deep list, stays as it is.
func indentJSON(ctx context.Context, raw []byte, limit int) string {
	if len(raw) > limit {
		return cleanText(string(raw[:limit])) + i18n.T(ctx, "\n… the first %d of %s KiB; the API gives all of it.", limit>>10, i18n.Number(ctx, len(raw)>>10))
	}
	if indentedSize(raw) > 4*limit {
		return cleanText(string(raw))
	}
	return cleanText(indentedJSON(raw))
}
