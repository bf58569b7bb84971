package httpclient_test

import (
	"bufio"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"patchbay/internal/fasthttp/httpclient"
)

// asNetHTTP compares the head of a plain response with what net/http parses from the same bytes.
func asNetHTTP(t *testing.T, text string, got *http.Response) {
	t.Helper()
	want, err := http.ReadResponse(bufio.NewReader(strings.NewReader(text)), &http.Request{Method: http.MethodPost})
	if err != nil {
		t.Fatalf("net/http refuses %q: %v", text, err)
	}
	type seen struct {
		Status, Proto string
		Code          int
		Header        http.Header
		Length        int64
		Encoding      []string
		Close         bool
	}
	of := func(r *http.Response) seen {
		return seen{r.Status, r.Proto, r.StatusCode, r.Header, r.ContentLength, r.TransferEncoding, r.Close}
	}
	if diff := cmp.Diff(of(want), of(got)); diff != "" {
		t.Errorf("%q (-net/http +ours):\n%s", text, diff)
	}
}

// The cached lines of previous heads must not change a response.
func TestRequestHead_UnaffectedByCachedLines(t *testing.T) {
	t.Parallel()
	var texts []string
	for _, head := range []string{
		"A: 1\r\nB: 2\r\n" + length, "A: 1\r\nB: 2\r\n" + length, "A: 1\r\nB: 2\r\nContent-Length: 55\r\n", "A: 1\r\n" + length, "B: 2\r\nA: 1\r\n" + length,
		"A: 1\r\nB: 2\r\n" + chunkedBody, "A: 11\r\nB: 2\r\n" + chunkedBody, length + "A: 1\r\n", strings.Repeat("A", 20) + ": 1\r\n" + length,
		"A: 1\r\nC: 3\r\nD: 4\r\nE: 5\r\nF: 6\r\nG: 7\r\nH: 8\r\nI: 9\r\nJ: 10\r\nK: 11\r\nL: 12\r\nM: 13\r\nN: 14\r\nO: 15\r\nP: 16\r\nQ: 17\r\nR: 18\r\n" + length,
		"A: 1\r\nC: 3\r\nD: 4\r\nE: 5\r\nF: 6\r\nG: 7\r\nH: 8\r\nI: 9\r\nJ: 10\r\nK: 11\r\nL: 12\r\nM: 13\r\nN: 14\r\nO: 15\r\nP: 16\r\nQ: 7\r\nR: 8\r\n" + length,
		"A: 1\r\n" + length,
	} {
		texts = append(texts, ok+head+"\r\n")
	}
	texts = append(texts, "HTTP/1.1 201 Created\r\nA: 1\r\n"+length+"\r\n", "HTTP/1.1 201 Created\r\nA: 1\r\n"+length+"\r\n")
	for i, got := range httpclient.Plain(http.MethodPost, texts...) {
		if got == nil {
			t.Errorf("not plain: %q", texts[i])
			continue
		}
		asNetHTTP(t, texts[i], got)
	}
	if twice := httpclient.Plain(http.MethodPost, ok+"A: 1\r\n"+length+"\r\n", ok+"A: 1\r\nA: 1\r\n"+length+"\r\n"); twice[0] == nil || twice[1] != nil {
		t.Errorf("a field that comes twice is plain: %v", twice)
	}
}

// FuzzBehind: a head that is plain behind another one is plain alone, and net/http parses it in the same way.
func FuzzBehind(f *testing.F) {
	f.Add(ok+"A: 1\r\n"+length+"\r\n", ok+"A: 1\r\nB: 2\r\n"+length+"\r\n")
	f.Add(ok+"Date: x\r\n"+chunkedBody+"\r\n", "HTTP/1.1 404 x\r\nDate: y\r\n"+chunkedBody+"\r\n")
	f.Add(ok+"A: 1\r\nA: 2\r\n\r\n", ok+"A: 1\r\n a\r\n\r\n")
	f.Fuzz(func(t *testing.T, before, text string) {
		alone, behind := httpclient.Plain(http.MethodPost, text)[0], httpclient.Plain(http.MethodPost, before, text)[1]
		if (alone == nil) != (behind == nil) {
			t.Fatalf("%q is plain: %t, and not so behind %q", text, alone != nil, before)
		}
		if alone != nil {
			asNetHTTP(t, text, alone)
			asNetHTTP(t, text, behind)
		}
	})
}

// Each head has the maximum length and one line less than the previous one.
func TestLineCache_BoundedByOneHead(t *testing.T) {
	t.Parallel()
	const longest = 4 << 10
	var heads []string
	for lines := 15; lines > 1; lines-- {
		head := "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n"
		for i := range lines {
			head += string(rune('A'+i)) + ":\r\n"
		}
		heads = append(heads, head+"X:"+strings.Repeat("x", longest-len(head)-6)+"\r\n\r\n")
	}
	for i, r := range httpclient.Plain("POST", heads...) {
		if r == nil {
			t.Fatalf("head %d is not plain", i)
		}
	}
	if n := httpclient.KeptLines(heads...); n == 0 || n > longest {
		t.Errorf("%d bytes", n)
	}
}
