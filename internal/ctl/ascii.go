package ctl

import (
	"fmt"
	"io"
	"strings"
	"unicode"
)

// asciiWriter writes JSON with escapes for characters that control a terminal or the text direction. ASCII
// controls are escaped already.
type asciiWriter struct{ w io.Writer }

func (a asciiWriter) Write(p []byte) (int, error) {
	var out strings.Builder
	for _, r := range string(p) {
		if r > unicode.MaxASCII && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r)) || r == 0x7f {
			writeEscape(&out, r)
			continue
		}
		out.WriteRune(r)
	}
	if _, err := io.WriteString(a.w, out.String()); err != nil {
		return 0, err
	}
	return len(p), nil
}

// writeEscape writes a character as a JSON escape, in UTF-16.
func writeEscape(out *strings.Builder, r rune) {
	if r > 0xffff {
		r -= 0x10000
		_, _ = fmt.Fprintf(out, `\u%04x`, 0xd800+r>>10)
		r = 0xdc00 + r&0x3ff
	}
	_, _ = fmt.Fprintf(out, `\u%04x`, r)
}
