package httpclient_test

import (
	"bufio"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"patchbay/internal/fasthttp/httpclient"
)

const (
	length      = "Content-Length: 5\r\n"
	chunkedBody = "Transfer-Encoding: chunked\r\n"
)

func TestPlainResponse_AcceptsUsualResponses(t *testing.T) {
	t.Parallel()
	for _, head := range []string{
		"HTTP/1.1 200 OK\r\n" + length,
		"HTTP/1.1 200 OK\r\n" + chunkedBody,
		"HTTP/1.1 200\r\n" + length,
		"HTTP/1.1 200 \r\n" + length,
		"HTTP/1.1 404 Nicht da: \xfc\r\n" + length,
		"HTTP/1.1 599 Odd\r\n" + chunkedBody,
		ok + "Date: Sun, 22 Nov 2026 18:00:00 GMT\r\n" + length,
		ok + "Connection: Keep-Alive\r\nKeep-Alive: timeout=5\r\n" + chunkedBody,
		ok + "content-length: \t 007 \t\r\n",
		ok + "Content-Length: 0\r\n",
		ok + "Content-Length:999999999999999\r\n",
		ok + "MCP-Session-ID: x\r\nX-Odd!#$%&'*+-.^_`|~: 1\r\nX-Empty:\r\nX-Text: gr\xc3\xbc\xc3\x9fe\r\n" + length,
		ok + "A: 1\r\nB: 2\r\nC: 3\r\nD: 4\r\nE: 5\r\nF: 6\r\nG: 7\r\nH: 8\r\nI: 9\r\n" + length,
		ok + "Content-Encoding: gzip\r\n" + chunkedBody,
	} {
		if !httpclient.IsPlain(head+"\r\n", http.MethodPost) {
			t.Errorf("not plain: %q", head)
		}
	}
}

func TestPlainResponse_LeavesOthersToNetHTTP(t *testing.T) {
	t.Parallel()
	for _, head := range []string{
		"", "\r\n", "\r\n" + ok + length, ok,
		"HTTP/1.0 200 OK\r\n" + length, "HTTP/2.0 200 OK\r\n" + length, "http/1.1 200 OK\r\n" + length, "HTTP/1.1  200 OK\r\n" + length,
		"HTTP/1.1 20 OK\r\n" + length, "HTTP/1.1 2000 OK\r\n" + length, "HTTP/1.1 +20 OK\r\n" + length, "HTTP/1.1 2_0 OK\r\n" + length,
		"HTTP/1.1 100 Continue\r\n" + length, "HTTP/1.1 101 Switching Protocols\r\n" + length, "HTTP/1.1 204 No Content\r\n" + length,
		"HTTP/1.1 304 Not Modified\r\n" + length, "HTTP/1.1 600 Odd\r\n" + length, "HTTP/1.1 007 Odd\r\n" + length, "HTTP/1.1 200 \x00\r\n" + length,
		ok + length + length, ok + length + "content-length: 6\r\n", ok + length + chunkedBody, ok + chunkedBody + length, ok + chunkedBody + chunkedBody,
		ok + "Content-Length:\r\n", ok + "Content-Length: +5\r\n", ok + "Content-Length: -5\r\n", ok + "Content-Length: 5, 5\r\n", ok + "Content-Length: 0x5\r\n",
		ok + "Content-Length: 5 5\r\n", ok + "Content-Length: 1_0\r\n", ok + "Content-Length: ٥\r\n", ok + "Content-Length: 1000000000000000\r\n",
		ok + "Transfer-Encoding: CHUNKED\r\n", ok + "Transfer-Encoding: gzip, chunked\r\n", ok + "Transfer-Encoding: identity\r\n" + length,
		ok + "Transfer-Encoding:\r\n" + length,
		ok + "Connection: close\r\n" + length, ok + "Connection: keep-alive, close\r\n" + length, ok + "Connection:\r\n" + length,
		ok + "Connection: keep-alive\r\nConnection: close\r\n" + length, ok + "Connection: Upgrade\r\nUpgrade: x\r\n" + length, ok + "Upgrade: x\r\n" + length,
		ok + "Trailer: X-Sum\r\n" + chunkedBody, ok + "Pragma: no-cache\r\n" + length,
		ok + "Set-Cookie: a=b\r\nSet-Cookie: c=d\r\n" + length, ok + "X-A: 1\r\nx-a: 2\r\n" + length,
		ok + "no colon\r\n" + length, ok + ": no name\r\n" + length, ok + "Space : x\r\n" + length, ok + " Folded: x\r\n" + length, ok + "A: x\r\n folded\r\n" + length,
		ok + "A: x\ry\r\n" + length, ok + "A: x\ny\r\n" + length, ok + "A: x\n" + length, ok + "A: \x00\r\n" + length, ok + "A: \x7f\r\n" + length,
		ok + "Ä: x\r\n" + length, ok + "A\x00: x\r\n" + length, ok + "(A): x\r\n" + length, ok + "Content-Length : 5\r\n",
		ok + "X-Long: " + long[:4<<10] + "\r\n" + length,
	} {
		if httpclient.IsPlain(head+"\r\n", http.MethodPost) {
			t.Errorf("plain: %q", head)
		}
	}
	for _, whole := range []string{ok + length, ok + length + "\r", ok + length + "\n", strings.ReplaceAll(ok+length, "\r\n", "\n") + "\n"} {
		if httpclient.IsPlain(whole, http.MethodPost) {
			t.Errorf("plain without its end: %q", whole)
		}
	}
	if httpclient.IsPlain(ok+length+"\r\n", http.MethodHead) {
		t.Error("an answer to HEAD is plain")
	}
}

// reading is what one response shows: its outcome, the fate of the connection, and the unread bytes on it.
type reading struct {
	Answer outcome
	Kept   bool
	Left   string
}

// byOnce reads a response by h1.
func byOnce(r *http.Request, s *scriptedConn, piece int) reading {
	tr := &httpclient.Transport{Fallback: refusingTransport{}, MaxIdle: 1, MaxIdlePerHost: 1, IdleTimeout: time.Hour, MaxHeaderBytes: 64 << 10, ReadBuffer: 4 << 10}
	once := httpclient.NewOnce(tr, s)
	resp, err := once.Ask(r)
	if err != nil {
		return reading{Answer: outcome{Problem: errorKind(err)}}
	}
	body, err := readIn(resp.Body, piece)
	got := reading{Answer: newOutcome(resp, body, err), Kept: once.Kept()}
	if in := once.In(); in != nil && !got.Kept {
		return got.withUnread(in)
	}
	return got.withUnread(s)
}

// byReadResponse reads a response by [http.ReadResponse].
func byReadResponse(r *http.Request, s *scriptedConn, piece int) reading {
	_, _ = s.Write(nil)
	limit := &limited{s, 64 << 10}
	in := bufio.NewReaderSize(limit, 4<<10)
	resp, err := http.ReadResponse(in, r)
	for err == nil && resp.StatusCode/100 == 1 && resp.StatusCode != http.StatusSwitchingProtocols {
		resp, err = http.ReadResponse(in, r)
	}
	if err != nil {
		return reading{Answer: outcome{Problem: errorKind(err)}}
	}
	limit.left = 1 << 40
	body, err := readIn(resp.Body, piece)
	kept := err == nil && !resp.Close && resp.StatusCode >= http.StatusOK && in.Buffered() == 0
	return reading{Answer: newOutcome(resp, body, err), Kept: kept}.withUnread(in)
}

// limited fails after a number of bytes.
type limited struct {
	io.Reader
	left int
}

func (l *limited) Read(p []byte) (int, error) {
	if l.left == 0 {
		return 0, errTooLong
	}
	n, err := l.Reader.Read(p[:min(len(p), l.left)])
	l.left -= n
	return n, err
}

var errTooLong = errors.New("that is too long")

func (r reading) withUnread(in io.Reader) reading {
	left, _ := io.ReadAll(in)
	r.Left = string(left)
	return r
}

// readIn reads a body in pieces.
func readIn(body io.Reader, piece int) (string, error) {
	var all strings.Builder
	_, err := io.CopyBuffer(struct{ io.Writer }{&all}, struct{ io.Reader }{body}, make([]byte, piece))
	return all.String(), err
}

// wantSameReading reads a response both ways. It arrives in pieces, and the body is read in pieces of another
// length.
func wantSameReading(t *testing.T, answer string, pieces uint8, piece int, method string) {
	t.Helper()
	r := fuzzRequest(t, method)
	r.Header.Set("Accept-Encoding", "identity") // no decoding
	theirs := byReadResponse(r, newScriptedConn([]byte(answer), int(pieces)), piece)
	if answer == "" || theirs.Answer.StatusCode == http.StatusSwitchingProtocols {
		return // h1 has its own limit there
	}
	ours := byOnce(r, newScriptedConn([]byte(answer), int(pieces)), piece)
	if diff := cmp.Diff(theirs, ours); diff != "" {
		t.Errorf("%.300q, net/http (-) and h1 (+):\n%s", answer, diff)
	}
}

// Bytes behind a response belong to the next one, perhaps of another caller: none may be consumed or kept.
func TestResponses_LeaveFollowingBytesUnread(t *testing.T) {
	t.Parallel()
	for _, a := range testResponses {
		method := http.MethodGet
		if a.method == http.MethodHead {
			method = a.method
		}
		for _, next := range []string{"", helloResponse} {
			for _, pieces := range []uint8{0, 1, 2, 7, 255} {
				for _, piece := range []int{1, 100, 64 << 10} {
					wantSameReading(t, a.bytes+next, pieces, piece, method)
				}
			}
		}
	}
}

// A long body is read from the socket past the buffer.
func TestLongBody_TakesNoMoreReadsThanNetHTTP(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("z", 100<<10)
	for name, answer := range map[string]string{
		"of a length": ok + "Content-Length: 102400\r\n\r\n" + text,
		"in a chunk":  ok + "Transfer-Encoding: chunked\r\n\r\n" + chunked(text),
		"in chunks":   ok + "Transfer-Encoding: chunked\r\n\r\n" + strings.TrimSuffix(chunked(text[:50<<10]), "0\r\n\r\n") + chunked(text[50<<10:]),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, ours, theirs := fuzzRequest(t, http.MethodGet), newScriptedConn([]byte(answer), 0), newScriptedConn([]byte(answer), 0)
			got, want := byOnce(r, ours, 256<<10), byReadResponse(r, theirs, 256<<10)
			if diff := cmp.Diff(want, got); diff != "" || !got.Kept || got.Answer.Body != text {
				t.Errorf("kept: %t\n%s", got.Kept, diff)
			}
			if ours.reads > theirs.reads {
				t.Errorf("%d reads, and net/http takes %d", ours.reads, theirs.reads)
			}
		})
	}
}

// FuzzPlain looks for a response that h1 and net/http's reader read differently, or with different unread
// bytes.
func FuzzPlain(f *testing.F) {
	for i, a := range testResponses {
		if len(a.bytes) < len(long) {
			f.Add([]byte(a.bytes), uint8(i%8), uint8(i%5), a.method == http.MethodHead)
			f.Add([]byte(a.bytes+helloResponse), uint8(0), uint8(99), false)
		}
	}
	f.Fuzz(func(t *testing.T, answer []byte, pieces, piece uint8, head bool) {
		if tooManyInterims(answer) {
			return
		}
		method := http.MethodGet
		if head {
			method = http.MethodHead
		}
		wantSameReading(t, string(answer), pieces, 1+int(piece), method)
	})
}
