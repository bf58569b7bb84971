package fastpath

import (
	"bufio"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func anywhere(string) bool { return true }

func plain(fields ...string) string {
	return "POST /mcp HTTP/1.1\r\n" + strings.Join(append([]string{"Host: patchbay.test", "Content-Length: 2"}, fields...), "\r\n") + "\r\n\r\n"
}

func TestUsualRequestsArePlain(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		plain(),
		plain("Authorization: Bearer pb_agent_x", "content-type: application/json", "ACCEPT: application/json, text/event-stream"),
		plain("Connection: keep-alive"),
		plain("connection: Close"),
		plain("X-Forwarded-For: 10.0.0.1", "X-Forwarded-For: 10.0.0.2", "X-Odd!#$%&'*+-.^_`|~: 1"),
		plain("Accept:no-space", "Accept-Language: \t  de \t", "X-Empty:", "X-Letters: gr\xc3\xbc\xc3\x9fe"),
		"POST /mcp/linear-app_1.2 HTTP/1.1\r\nContent-Length: 1048576\r\nHost: [::1]:8080\r\n\r\n",
		"POST /mcp HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n\r\n",
		"POST /mcp HTTP/1.1\r\nHost: h\r\nContent-Length: 007\r\n\r\n",
	} {
		var h head
		if !h.parse([]byte(text), new(lines), anywhere) {
			t.Errorf("not plain: %q", text)
		}
		asNetHTTP(t, text, &h)
	}
}

func TestAnythingElseIsNotPlain(t *testing.T) {
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
		plain("Host: other"), plain("Content-Length: 2"), plain("Content-Length: 3"),
		strings.Replace(plain(), "Length: 2", "Length: +2", 1), strings.Replace(plain(), "Length: 2", "Length: -2", 1),
		strings.Replace(plain(), "Length: 2", "Length: 2, 2", 1), strings.Replace(plain(), "Length: 2", "Length: 0x2", 1),
		strings.Replace(plain(), "Length: 2", "Length:", 1), strings.Replace(plain(), "Length: 2", "Length: 1048577", 1),
		strings.Replace(plain(), "Length: 2", "Length: 99999999999999999999", 1), strings.Replace(plain(), "Length: 2", "Length: ٢", 1),
		strings.Replace(plain(), "patchbay.test", "patchbay.test/x", 1), strings.Replace(plain(), "patchbay.test", "", 1),
		strings.Replace(plain(), "patchbay.test", "a b", 1), strings.Replace(plain(), "patchbay.test", "a@b", 1),
		plain("Transfer-Encoding: chunked"), plain("transfer-encoding: identity"), plain("TRANSFER-ENCODING: x"),
		plain("Expect: 100-continue"), plain("Upgrade: h2c"), plain("Connection: upgrade"), plain("Connection: close, x"),
		plain("Connection: close", "Connection: close"), plain("Trailer: X"), plain("TE: trailers"), plain("Pragma: no-cache"),
		plain("No colon"), plain(": no name"), plain("Space : x"), plain(" Folded: x"), plain("A: x", " folded"), plain("A: x", "\tfolded"),
		plain("A: x\ry"), plain("A: x\ny"), plain("A: \x00"), plain("A: \x7f"), plain("Ä: x"), plain("A\x00: x"), plain("(A): x"),
		plain(strings.Split(strings.Repeat("A: x,", mostFields+1), ",")[:mostFields+1]...),
	} {
		var h head
		if h.parse([]byte(text), new(lines), anywhere) {
			t.Errorf("plain: %q", text)
		}
	}
	var h head
	if h.parse([]byte(plain()), new(lines), func(path string) bool { return path != "/mcp" }) {
		t.Error("a path that is not taken is plain")
	}
}

// asNetHTTP holds a plain request against what net/http makes of the same bytes.
func asNetHTTP(t *testing.T, text string, h *head) {
	t.Helper()
	want, err := http.ReadRequest(bufio.NewReader(strings.NewReader(text)))
	if err != nil {
		t.Fatalf("net/http refuses %q: %v", text, err)
	}
	want.Header.Del("Content-Length") // nobody reads it there
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

// Each request is what its own head says, however much of it stood in those before.
func TestAHeadIsReadAsIfItWereTheFirst(t *testing.T) {
	t.Parallel()
	var last lines
	for _, text := range []string{
		plain("A: 1", "B: 2"), plain("A: 1", "B: 2"), plain("A: 1"), plain("B: 2", "A: 1"), plain("A: 1", "A: 1"), plain("A: 1", "A: 2", "B: 3", "A: 4"),
		plain("A: 1", "B: 2", "B: 2"), plain("A: 1", "a: 2", "B: 3"), plain("A: 11", "B: 2"), plain("A: 1", "Connection: close"), plain("A: 1"),
		strings.Replace(plain("A: 1"), "/mcp", "/mcp/other", 1), strings.Replace(plain("A: 1"), "Length: 2", "Length: 21", 1),
		plain(strings.Split(strings.Repeat("A: x,", mostFields-2), ",")[:mostFields-2]...), plain("A: 1", "B: 2"),
		plain("A: 1", "B: 2", "C: 3", "D: 4", "E: 5", "F: 6", "G: 7", "H: 8", "I: 9", "J: 10", "K: 11", "L: 12", "M: 13", "A: 14"),
	} {
		var h head
		if !h.parse([]byte(text), &last, anywhere) {
			t.Errorf("not plain: %q", text)
		}
		asNetHTTP(t, text, &h)
	}
}

// FuzzHead looks for a head that is plain, and that net/http reads in another way, or refuses; once it follows another one.
func FuzzHead(f *testing.F) {
	f.Add(plain(), plain("A: x"))
	f.Add(plain("Authorization: Bearer x", "Accept: a", "accept: b", "Connection: close"), plain("Authorization: Bearer x", "Accept: a", "accept: bc"))
	f.Add(plain("Transfer-Encoding: chunked"), plain())
	f.Add(plain("A: x", " y"), plain("A: x", "A: x"))
	f.Fuzz(func(t *testing.T, before, text string) {
		var last lines
		for _, text := range []string{before, text} {
			n := endOfHead([]byte(text))
			if n == 0 {
				return
			}
			var first, next head
			plain := first.parse([]byte(text)[:n], new(lines), anywhere)
			if next.parse([]byte(text)[:n], &last, anywhere) != plain {
				t.Fatalf("%q is plain: %t, and not so behind %q", text, plain, before)
			}
			if plain {
				asNetHTTP(t, text[:n], &first)
				asNetHTTP(t, text[:n], &next)
			}
		}
	})
}

func BenchmarkHead(b *testing.B) {
	text := []byte(plain("User-Agent: client/1.0", "Authorization: Bearer pb_agent_0123456789abcdef0123456789abcdef", "Content-Type: application/json", "Accept: application/json, text/event-stream",
		"Mcp-Protocol-Version: 2026-07-28", "Mcp-Method: tools/call", "Mcp-Name: search", "Accept-Encoding: gzip"))
	var last lines
	b.ReportAllocs()
	for b.Loop() {
		var h head
		if !h.parse(text, &last, anywhere) {
			b.Fatal("not plain")
		}
	}
}

func TestKnownNamesAreWrittenAsNetHTTPWritesThem(t *testing.T) {
	t.Parallel()
	for name, known := range knownNames {
		if known != http.CanonicalHeaderKey(name) {
			t.Errorf("%s is %s", name, known)
		}
	}
	for b := range 256 {
		name := "x" + string([]byte{byte(b)})
		got, _ := canonical(name)
		r, err := http.ReadRequest(bufio.NewReader(strings.NewReader("POST / HTTP/1.1\r\nHost: h\r\n" + name + ": 1\r\n\r\n")))
		if err == nil && len(r.Header) == 1 && got != "" && r.Header[got] == nil || err != nil && got != "" {
			t.Errorf("%q is %q, and net/http has %v (%v)", name, got, r, err)
		}
	}
}
