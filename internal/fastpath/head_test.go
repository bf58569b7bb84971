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
		if !h.parse(text, anywhere) {
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
		if h.parse(text, anywhere) {
			t.Errorf("plain: %q", text)
		}
	}
	var h head
	if h.parse(plain(), func(path string) bool { return path != "/mcp" }) {
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

// FuzzHead looks for a head that is plain, and that net/http reads in another way, or refuses.
func FuzzHead(f *testing.F) {
	f.Add(plain())
	f.Add(plain("Authorization: Bearer x", "Accept: a", "accept: b", "Connection: close"))
	f.Add(plain("Transfer-Encoding: chunked"))
	f.Add(plain("A: x", " y"))
	f.Fuzz(func(t *testing.T, text string) {
		n := endOfHead([]byte(text))
		if n == 0 {
			return
		}
		var h head
		if h.parse(text[:n], anywhere) {
			asNetHTTP(t, text[:n], &h)
		}
	})
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
