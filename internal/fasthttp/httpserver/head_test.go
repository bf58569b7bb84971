package httpserver

import (
	"bufio"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func acceptAnyPath(string) bool { return true }

func formatPlainHead(fields ...string) string {
	return "POST /mcp HTTP/1.1\r\n" + strings.Join(append([]string{"Host: patchbay.test", "Content-Length: 2"}, fields...), "\r\n") + "\r\n\r\n"
}

func TestRequestHead_AcceptsUsualRequests(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		formatPlainHead(),
		formatPlainHead("Authorization: Bearer pb_agent_x", "content-type: application/json", "ACCEPT: application/json, text/event-stream"),
		formatPlainHead("Connection: keep-alive"),
		formatPlainHead("connection: Close"),
		formatPlainHead("X-Forwarded-For: 10.0.0.1", "X-Forwarded-For: 10.0.0.2", "X-Odd!#$%&'*+-.^_`|~: 1"),
		formatPlainHead("Accept:no-space", "Accept-Language: \t  de \t", "X-Empty:", "X-Letters: gr\xc3\xbc\xc3\x9fe"),
		"POST /mcp/linear-app_1.2 HTTP/1.1\r\nContent-Length: 1048576\r\nHost: [::1]:8080\r\n\r\n",
		"POST /mcp HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n\r\n",
		"POST /mcp HTTP/1.1\r\nHost: h\r\nContent-Length: 007\r\n\r\n",
	} {
		var h requestHead
		if !h.parse([]byte(text), new(lineCache), acceptAnyPath) {
			t.Errorf("not plain: %q", text)
		}
		wantAsNetHTTP(t, text, &h)
	}
}

func TestRequestHead_RejectsAnythingElse(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"", "\r\n\r\n", "POST /mcp HTTP/1.1\r\n\r\n",
		"GET /mcp HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n\r\n",
		"post /mcp HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n\r\n",
		"POST  /mcp HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n\r\n",
		"POST /mcp HTTP/1.0\r\nHost: h\r\nContent-Length: 0\r\n\r\n",
		"POST /mcp HTTP/1.1 \r\nHost: h\r\nContent-Length: 0\r\n\r\n",
		"POST /mcp?a=b HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n\r\n",
		"POST /mcp%2fx HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n\r\n",
		"POST http://h/mcp HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n\r\n",
		"POST /mcp#x HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n\r\n",
		"POST /mcp HTTP/1.1\r\nContent-Length: 0\r\n\r\n",
		"POST /mcp HTTP/1.1\r\nHost: h\r\n\r\n",
		"POST /mcp HTTP/1.1\nHost: h\nContent-Length: 0\n\n",
		formatPlainHead("Host: other"), formatPlainHead("Content-Length: 2"), formatPlainHead("Content-Length: 3"),
		strings.Replace(formatPlainHead(), "Length: 2", "Length: +2", 1), strings.Replace(formatPlainHead(), "Length: 2", "Length: -2", 1),
		strings.Replace(formatPlainHead(), "Length: 2", "Length: 2, 2", 1), strings.Replace(formatPlainHead(), "Length: 2", "Length: 0x2", 1),
		strings.Replace(formatPlainHead(), "Length: 2", "Length:", 1), strings.Replace(formatPlainHead(), "Length: 2", "Length: 1048577", 1),
		strings.Replace(formatPlainHead(), "Length: 2", "Length: 99999999999999999999", 1), strings.Replace(formatPlainHead(), "Length: 2", "Length: ٢", 1),
		strings.Replace(formatPlainHead(), "patchbay.test", "patchbay.test/x", 1), strings.Replace(formatPlainHead(), "patchbay.test", "", 1),
		strings.Replace(formatPlainHead(), "patchbay.test", "a b", 1), strings.Replace(formatPlainHead(), "patchbay.test", "a@b", 1),
		formatPlainHead("Transfer-Encoding: chunked"), formatPlainHead("transfer-encoding: identity"), formatPlainHead("TRANSFER-ENCODING: x"),
		formatPlainHead("Expect: 100-continue"), formatPlainHead("Upgrade: h2c"), formatPlainHead("Connection: upgrade"), formatPlainHead("Connection: close, x"),
		formatPlainHead("Connection: close", "Connection: close"), formatPlainHead("Trailer: X"), formatPlainHead("TE: trailers"), formatPlainHead("Pragma: no-cache"),
		formatPlainHead("No colon"), formatPlainHead(": no name"), formatPlainHead("Space : x"), formatPlainHead(" Folded: x"), formatPlainHead("A: x", " folded"), formatPlainHead("A: x", "\tfolded"),
		formatPlainHead("A: x\ry"), formatPlainHead("A: x\ny"), formatPlainHead("A: \x00"), formatPlainHead("A: \x7f"), formatPlainHead("Ä: x"), formatPlainHead("A\x00: x"), formatPlainHead("(A): x"),
		formatPlainHead(strings.Split(strings.Repeat("A: x,", maxFields+1), ",")[:maxFields+1]...),
	} {
		var h requestHead
		if h.parse([]byte(text), new(lineCache), acceptAnyPath) {
			t.Errorf("plain: %q", text)
		}
	}
	var h requestHead
	if h.parse([]byte(formatPlainHead()), new(lineCache), func(path string) bool { return path != "/mcp" }) {
		t.Error("a path that is not taken is plain")
	}
}

// wantAsNetHTTP compares a plain request with what net/http parses from the same bytes.
func wantAsNetHTTP(t *testing.T, text string, h *requestHead) {
	t.Helper()
	want, err := http.ReadRequest(bufio.NewReader(strings.NewReader(text)))
	if err != nil {
		t.Fatalf("net/http refuses %q: %v", text, err)
	}
	want.Header.Del("Content-Length") // in Request.ContentLength only
	type seen struct {
		Method, URI, Path, Host, Proto string
		Major, Minor                   int
		Header                         http.Header
		Length                         int64
		Close, NoBody                  bool
		Encoding                       []string
	}
	of := func(r *http.Request) seen {
		return seen{
			r.Method, r.RequestURI, r.URL.String(), r.Host, r.Proto, r.ProtoMajor, r.ProtoMinor, r.Header, r.ContentLength, r.Close,
			r.ContentLength == 0, r.TransferEncoding,
		}
	}
	if diff := cmp.Diff(of(want), of(&h.request)); diff != "" {
		t.Fatalf("%q (-net/http +ours):\n%s", text, diff)
	}
}

// The cached lines of previous heads must not change a request.
func TestRequestHead_UnaffectedByCachedLines(t *testing.T) {
	t.Parallel()
	var last lineCache
	for _, text := range []string{
		formatPlainHead("A: 1", "B: 2"), formatPlainHead("A: 1", "B: 2"), formatPlainHead("A: 1"), formatPlainHead("B: 2", "A: 1"), formatPlainHead("A: 1", "A: 1"), formatPlainHead("A: 1", "A: 2", "B: 3", "A: 4"),
		formatPlainHead("A: 1", "B: 2", "B: 2"), formatPlainHead("A: 1", "a: 2", "B: 3"), formatPlainHead("A: 11", "B: 2"), formatPlainHead("A: 1", "Connection: close"), formatPlainHead("A: 1"),
		strings.Replace(formatPlainHead("A: 1"), "/mcp", "/mcp/other", 1), strings.Replace(formatPlainHead("A: 1"), "Length: 2", "Length: 21", 1),
		formatPlainHead(strings.Split(strings.Repeat("A: x,", maxFields-2), ",")[:maxFields-2]...), formatPlainHead("A: 1", "B: 2"),
		formatPlainHead("A: 1", "B: 2", "C: 3", "D: 4", "E: 5", "F: 6", "G: 7", "H: 8", "I: 9", "J: 10", "K: 11", "L: 12", "M: 13", "A: 14"),
	} {
		var h requestHead
		if !h.parse([]byte(text), &last, acceptAnyPath) {
			t.Errorf("not plain: %q", text)
		}
		wantAsNetHTTP(t, text, &h)
	}
}

// FuzzHead looks for a plain head that net/http rejects or parses differently, alone and after another head.
func FuzzHead(f *testing.F) {
	f.Add(formatPlainHead(), formatPlainHead("A: x"))
	f.Add(formatPlainHead("Authorization: Bearer x", "Accept: a", "accept: b", "Connection: close"), formatPlainHead("Authorization: Bearer x", "Accept: a", "accept: bc"))
	f.Add(formatPlainHead("Transfer-Encoding: chunked"), formatPlainHead())
	f.Add(formatPlainHead("A: x", " y"), formatPlainHead("A: x", "A: x"))
	f.Fuzz(func(t *testing.T, before, text string) {
		var last lineCache
		for _, text := range []string{before, text} {
			n := findHeadLength([]byte(text))
			if n == 0 {
				return
			}
			var first, next requestHead
			plain := first.parse([]byte(text)[:n], new(lineCache), acceptAnyPath)
			if next.parse([]byte(text)[:n], &last, acceptAnyPath) != plain {
				t.Fatalf("%q is plain: %t, and not so behind %q", text, plain, before)
			}
			if plain {
				wantAsNetHTTP(t, text[:n], &first)
				wantAsNetHTTP(t, text[:n], &next)
			}
		}
	})
}

func BenchmarkHead(b *testing.B) {
	text := []byte(formatPlainHead("User-Agent: client/1.0", "Authorization: Bearer pb_agent_0123456789abcdef0123456789abcdef", "Content-Type: application/json", "Accept: application/json, text/event-stream",
		"Mcp-Protocol-Version: 2026-07-28", "Mcp-Method: tools/call", "Mcp-Name: search", "Accept-Encoding: gzip"))
	var last lineCache
	b.ReportAllocs()
	for b.Loop() {
		var h requestHead
		if !h.parse(text, &last, acceptAnyPath) {
			b.Fatal("not plain")
		}
	}
}

func TestCanonicalName_MatchesNetHTTP(t *testing.T) {
	t.Parallel()
	for name, known := range knownNames {
		if known != http.CanonicalHeaderKey(name) {
			t.Errorf("%s is %s", name, known)
		}
	}
	for b := range 256 {
		name := "x" + string([]byte{byte(b)})
		got, _ := canonicalName(name)
		r, err := http.ReadRequest(bufio.NewReader(strings.NewReader("POST / HTTP/1.1\r\nHost: h\r\n" + name + ": 1\r\n\r\n")))
		if err == nil && len(r.Header) == 1 && got != "" && r.Header[got] == nil || err != nil && got != "" {
			t.Errorf("%q is %q, and net/http has %v (%v)", name, got, r, err)
		}
	}
}
