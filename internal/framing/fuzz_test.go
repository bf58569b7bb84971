package framing

import (
	"bufio"
	"io"
	"net/http"
	"strings"
	"testing"
)

// FuzzScanner compares the scanner with the requests that net/http reads from a connection, up to the first
// rejected one.
func FuzzScanner(f *testing.F) {
	f.Add("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nabcGET / HTTP/1.1\nHost: h\n\n")
	f.Add("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\nA\r\n0123456789\r\n0\r\nA: b\r\n\r\nGET / HTTP/1.1\r\nHost: h\r\n\r\n")
	f.Add("POST / HTTP/1.0\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET / HTTP/1.1\r\nHost: h\r\n\r\n")
	f.Add("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n1;a=b\r\nx\r\n0\r\n\r\nGET / HTTP/1.1\r\nHost: h\r\n\r\n")
	f.Add("POST / HTTP/1.1\r\nHost: h\r\nContent-Length:" + strings.Repeat(" ", 48) + "123\r\n\r\n" + strings.Repeat("GET /x HTTP/1.1\r\nHost: h\r\n\r\n", 4) + "123" +
		"GET / HTTP/1.1\r\nHost: h\r\n\r\n")
	f.Fuzz(func(t *testing.T, text string) {
		var s scanner
		s.scan([]byte(text))
		var bytewise scanner
		for i := range len(text) {
			bytewise.scan([]byte(text[i : i+1]))
		}
		if len(bytewise.heads) != len(s.heads) || bytewise.state != s.state {
			t.Fatalf("%q: %v in state %d, and byte by byte %v in state %d", text, s.heads, s.state, bytewise.heads, bytewise.state)
		}
		in := bufio.NewReader(strings.NewReader(text))
		for i := 0; ; i++ {
			r, err := http.ReadRequest(in)
			if err != nil {
				return
			}
			if i >= len(s.heads) {
				if s.state != lost {
					t.Fatalf("%q: net/http reads request %d, and the scanner is in state %d with %v", text, i, s.state, s.heads)
				}
				return
			}
			head := s.heads[i]
			if !hasOneLength(head, r) {
				if one := head.hasTransferEncoding != head.hasContentLength; one && !(head.hasTransferEncoding && !r.ProtoAtLeast(1, 1)) {
					t.Fatalf("%q: request %d has %v, and net/http reads %v, %v", text, i, head, r.TransferEncoding, r.Header)
				}
				return
			}
			if _, err := io.Copy(io.Discard, r.Body); err != nil || r.Close {
				return
			}
		}
	})
}
