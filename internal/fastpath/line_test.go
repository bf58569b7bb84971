package fastpath

import (
	"strings"
	"testing"
)

// Each head is as long as one may be, and has one line less than the one before.
func TestAConnectionKeepsTheLinesOfOneHeadAlone(t *testing.T) {
	t.Parallel()
	var last lines
	for at := mostFields; at >= 3; at-- {
		text := "POST /mcp HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n" + strings.Repeat("A:\r\n", at-3)
		text += "A:" + strings.Repeat("x", mostHead-len(text)-6) + "\r\n\r\n"
		var h head
		if !h.parse([]byte(text), &last, func(string) bool { return true }) {
			t.Fatalf("%d fields are not plain", at)
		}
	}
	kept := 0
	for _, l := range last.of[:cap(last.of)] {
		kept += len(l.text)
	}
	if kept > mostHead {
		t.Errorf("%d bytes", kept)
	}
}
