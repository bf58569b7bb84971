package framing_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"patchbay/internal/framing"
)

// startServer serves an echo behind the package, and returns its address.
func startServer(t *testing.T) string {
	t.Helper()
	var on net.ListenConfig
	l, err := on.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &http.Server{
		ReadHeaderTimeout: time.Minute, DisableGeneralOptionsHandler: true,
		Handler: framing.Refuse(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			_, _ = fmt.Fprintf(w, "%s %s", r.URL.Path, body)
		})),
		ConnContext: func(ctx context.Context, c net.Conn) context.Context {
			ctx, _ = framing.ConnContext(ctx, c)
			return ctx
		},
	}
	done := make(chan error, 1)
	go func() { done <- s.Serve(framing.Listen(l)) }()
	t.Cleanup(func() {
		_ = s.Close()
		<-done
	})
	return l.Addr().String()
}

// exchange sends segments and returns the statuses and bodies of all responses until the connection ends.
func exchange(t *testing.T, addr string, segments ...string) (answers []string) {
	t.Helper()
	var to net.Dialer
	c, err := to.DialContext(t.Context(), "tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	for _, s := range segments {
		if _, err := io.WriteString(c, s); err != nil {
			break // it is closed
		}
	}
	_ = c.(*net.TCPConn).CloseWrite()
	in := bufio.NewReader(c)
	for {
		resp, err := http.ReadResponse(in, nil)
		if err != nil {
			return answers
		}
		body, _ := io.ReadAll(resp.Body)
		answers = append(answers, strings.TrimSpace(fmt.Sprintf("%d %s", resp.StatusCode, body)))
	}
}

const (
	hidden  = "GET /hidden HTTP/1.1\r\nHost: h\r\n\r\n"
	plain   = "POST /plain HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nabc"
	chunked = "POST /chunked HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n"
	refused = "400 400 Bad Request: the length of the body is ambiguous"
)

func twoLengths(first, second, version string) string {
	return "POST /both HTTP/" + version + "\r\nHost: h\r\nConnection: keep-alive\r\n" + first + "\r\n" + second + "\r\n\r\n0\r\n\r\n" + hidden
}

// A request is hidden behind each one, and must get no response.
func TestTwoLengths_RefusedAndConnectionEnds(t *testing.T) {
	t.Parallel()
	addr := startServer(t)
	for _, text := range []string{
		twoLengths("Content-Length: 5", "Transfer-Encoding: chunked", "1.1"), twoLengths("Transfer-Encoding: chunked", "Content-Length: 5", "1.1"),
		twoLengths("content-length: 5", "TRANSFER-ENCODING: Chunked", "1.1"), twoLengths("Transfer-Encoding:\r\n chunked", "Content-Length:\r\n 5", "1.1"),
		twoLengths("Content-Length: 5", "Transfer-Encoding: chunked", "1.0"), twoLengths("A: b", "Transfer-Encoding: chunked", "1.0"),
		strings.ReplaceAll(twoLengths("Content-Length: 5", "Transfer-Encoding: chunked", "1.1"), "\r\n", "\n"),
		twoLengths("Content-Length:"+strings.Repeat(" ", 100)+"5", "Transfer-Encoding: chunked", "1.1"),
		twoLengths("Content-Length:"+strings.Repeat(" ", 48)+"5", "Transfer-Encoding: chunked", "1.1"),
	} {
		for what, before := range map[string][]string{"": nil, "plain 200 /plain abc": {plain}, "chunked 200 /chunked abc": {chunked}} {
			for _, segments := range [][]string{{text}, strings.SplitAfter(text, "\n"), strings.Split(text, "")} {
				got := exchange(t, addr, append(before, segments...)...)
				for _, answer := range got {
					if strings.Contains(answer, "hidden") {
						t.Errorf("%q behind %q: %q", text, what, got)
					}
				}
				if last := got[len(got)-1]; last != refused {
					t.Errorf("%q behind %q: %q", text, what, got)
				}
			}
		}
	}
	if got := exchange(t, addr, plain, chunked, twoLengths("Content-Length: 5", "Transfer-Encoding: chunked", "1.1")); len(got) != 3 || got[2] != refused {
		t.Errorf("%q", got)
	}
}

// Many requests on one connection arrive in one piece and in many.
func TestOneLength_KeepsTheConnection(t *testing.T) {
	t.Parallel()
	addr := startServer(t)
	trailer := strings.Replace(chunked, "0\r\n\r\n", "0\r\nA: b\r\n\r\n", 1)
	all := []string{
		plain, hidden, chunked, "OPTIONS * HTTP/1.1\r\nHost: h\r\n\r\n", chunked, plain + "\r\n", trailer, strings.ReplaceAll(hidden, "\r\n", "\n"), chunked,
		"GET /folded HTTP/1.1\r\nHost: h\r\nA: Content-Length: 5\r\nX-Transfer-Encoding: chunked\r\n\r\n", chunked,
	}
	const n = 11
	for what, segments := range map[string][]string{"one piece": {strings.Join(all, "")}, "requests": all, "bytes": strings.Split(strings.Join(all, ""), "")} {
		got := exchange(t, addr, segments...)
		for _, answer := range got {
			if !strings.HasPrefix(answer, "200") {
				t.Errorf("%s: %q", what, got)
			}
		}
		if len(got) != n {
			t.Errorf("%s: %d answers: %q", what, len(got), got)
		}
	}
}

// After chunks that the package does not follow, a request with a Transfer-Encoding is the last one.
func TestOddChunks_EndTheirConnection(t *testing.T) {
	t.Parallel()
	extended := strings.Replace(chunked, "3\r\n", "3;a=b\r\n", 1)
	got := exchange(t, startServer(t), extended+plain+chunked+hidden)
	if want := "[200 /chunked abc 200 /plain abc 200 /chunked abc]"; fmt.Sprint(got) != want {
		t.Errorf("%s, want %s", got, want)
	}
}
