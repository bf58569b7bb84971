package httpserver

import (
	"strings"
	"testing"
)

// Each head has the maximum length and one line less than the previous one.
func TestLineCache_BoundedByOneHead(t *testing.T) {
	t.Parallel()
	var last lineCache
	for at := maxFields; at >= 3; at-- {
		text := "POST /mcp HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n" + strings.Repeat("A:\r\n", at-3)
		text += "A:" + strings.Repeat("x", maxHeadBytes-len(text)-6) + "\r\n\r\n"
		var h requestHead
		if !h.parse([]byte(text), &last, func(string) bool { return true }) {
			t.Fatalf("%d fields are not plain", at)
		}
	}
	kept := 0
	for _, l := range last.entries[:cap(last.entries)] {
		kept += len(l.text)
	}
	if kept > maxHeadBytes {
		t.Errorf("%d bytes", kept)
	}
}
