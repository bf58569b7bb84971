package connectors

import (
	"strings"
	"unicode"
)

// CleanPersonName returns a provider's name for a person as one line of bounded length.
func CleanPersonName(name string) string {
	name = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 { // bidirectional overrides and isolates
			return -1
		}
		return r
	}, name)
	if runes := []rune(strings.TrimSpace(name)); len(runes) > 200 {
		return string(runes[:200])
	}
	return strings.TrimSpace(name)
}
