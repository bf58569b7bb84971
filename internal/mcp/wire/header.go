package wire

import (
	"encoding/base64"
	"strings"
)

// HeaderText decodes the value of Mcp-Name or Mcp-Param-… (2026-07-28, "Value Encoding"). ok is false for an
// invalid encoding or header value.
func HeaderText(value string) (text string, ok bool) {
	if strings.IndexFunc(value, func(c rune) bool { return c != '\t' && c < ' ' || c > '~' }) >= 0 {
		return "", false
	}
	inner, opens := strings.CutPrefix(value, "=?base64?")
	inner, closes := strings.CutSuffix(inner, "?=")
	if !opens || !closes {
		return value, true
	}
	raw, err := base64.StdEncoding.Strict().DecodeString(inner)
	return string(raw), err == nil
}
