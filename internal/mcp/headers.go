package mcp

import (
	"encoding/base64"
	"strings"
)

// headerValue is text as the value of a header: as it is where that is safe, else encoded (Streamable HTTP of 2026-07-28, "Value
// Encoding").
func headerValue(text string) string {
	const opens, closes = "=?base64?", "?="
	unsafe := func(c rune) bool { return c < ' ' || c > '~' }
	if strings.IndexFunc(text, unsafe) < 0 && strings.TrimSpace(text) == text &&
		!(strings.HasPrefix(text, opens) && strings.HasSuffix(text, closes)) {
		return text
	}
	return opens + base64.StdEncoding.EncodeToString([]byte(text)) + closes
}
