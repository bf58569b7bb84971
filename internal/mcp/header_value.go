package mcp

import (
	"encoding/base64"
	"strings"
)

// encodeHeaderValue encodes text as a header value, if it is not safe as it is (Streamable HTTP 2026-07-28,
// "Value Encoding").
func encodeHeaderValue(text string) string {
	const opens, closes = "=?base64?", "?="
	unsafe := func(c rune) bool { return c < ' ' || c > '~' }
	if strings.IndexFunc(text, unsafe) < 0 && strings.TrimSpace(text) == text &&
		!(strings.HasPrefix(text, opens) && strings.HasSuffix(text, closes)) {
		return text
	}
	return opens + base64.StdEncoding.EncodeToString([]byte(text)) + closes
}
