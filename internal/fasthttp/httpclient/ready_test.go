package httpclient_test

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
)

// stepwise is a server that writes on command.
type stepwise struct {
	*peer
	say  chan string
	said chan struct{}
}

func newStepwise(t *testing.T) stepwise {
	t.Helper()
	s := stepwise{say: make(chan string), said: make(chan struct{}, 1)}
	s.peer = newPeer(t, func(p *peer, conn *net.TCPConn) {
		if !p.readRequest(bufio.NewReader(conn)) {
			return
		}
		for {
			select {
			case text, more := <-s.say:
				if _, _ = io.WriteString(conn, text); !more {
					_ = conn.Close()
				}
				if s.said <- struct{}{}; !more {
					return
				}
			case <-t.Context().Done():
				return
			}
		}
	})
	return s
}

func (s stepwise) tell(text string) {
	s.say <- text
	<-s.said
}

func (s stepwise) end() {
	close(s.say)
	<-s.said
}

// open sends a request and returns the body of the response, of which only the head has arrived.
func (s stepwise) open(t *testing.T, tr http.RoundTripper, head string) io.ReadCloser {
	t.Helper()
	got := make(chan *http.Response, 1)
	r := newRequest(t, http.MethodGet, s.url, nil)
	go func() {
		resp, err := tr.RoundTrip(r)
		if err != nil {
			t.Error(err)
		}
		got <- resp
	}()
	s.tell(head)
	resp := <-got
	if resp == nil {
		t.FailNow()
	}
	t.Cleanup(func() { _ = resp.Body.Close() })
	return resp.Body
}

func ready(body io.Reader) bool { return body.(interface{ Ready() bool }).Ready() }

func TestReady_ReportsWhetherReadReturnsAtOnce(t *testing.T) {
	t.Parallel()
	const chunks = ok + "Transfer-Encoding: chunked\r\n\r\n"
	for name, tc := range map[string]struct {
		head, first string // already read
		more        string // arrives later
		end         bool   // the connection ends after it
		want        bool
	}{
		"nothing":                      {head: ok + "Content-Length: 9\r\n\r\n", first: "hell"},
		"bytes":                        {head: ok + "Content-Length: 9\r\n\r\n", first: "hell", more: "o", want: true},
		"the end, told by a length":    {head: ok + "Content-Length: 4\r\n\r\n", first: "hell", want: true},
		"the end, told by none":        {head: ok + "\r\n", first: "hell", end: true, want: true},
		"an early end":                 {head: ok + "Content-Length: 9\r\n\r\n", first: "hell", end: true, want: true},
		"no chunk":                     {head: chunks, first: "4\r\nhell\r\n"},
		"a chunk":                      {head: chunks, first: "4\r\nhell\r\n", more: "1\r\no", want: true},
		"a chunk's head":               {head: chunks, first: "4\r\nhell\r\n", more: "1\r\n"},
		"half a chunk's head":          {head: chunks, first: "4\r\nhell\r\n", more: "1\r"},
		"a chunk's end":                {head: chunks, first: "4\r\nhell", more: "\r\n"},
		"half a chunk's end":           {head: chunks, first: "4\r\nhell", more: "\r"},
		"a chunk's end and a chunk":    {head: chunks, first: "4\r\nhell", more: "\r\n1\r\no", want: true},
		"a chunk's end and a head":     {head: chunks, first: "4\r\nhell", more: "\r\n1\r\n"},
		"the last chunk":               {head: chunks, first: "4\r\nhell\r\n", more: "0\r\n\r\n", want: true},
		"the last chunk, extended":     {head: chunks, first: "4\r\nhell\r\n", more: "00 ;a=b\r\n\r\n", want: true},
		"a chunk's end and the last":   {head: chunks, first: "4\r\nhell", more: "\r\n0\r\n\r\n", want: true},
		"half the last chunk":          {head: chunks, first: "4\r\nhell\r\n", more: "0\r\n"},
		"half the last, extended":      {head: chunks, first: "4\r\nhell\r\n", more: "0 \t;a=b\r\n\r"},
		"the last chunk and trailers":  {head: chunks, first: "4\r\nhell\r\n", more: "0\r\nX-Sum: 1\r\n\r\n", want: true},
		"half the trailers":            {head: chunks, first: "4\r\nhell\r\n", more: "0\r\nX-Sum: 1\r\n"},
		"a chunk that does not end":    {head: chunks, first: "4\r\nhell\r\n", end: true, want: true},
		"a chunk that is none":         {head: chunks, first: "4\r\nhell\r\n", more: "x\r\nyz", want: true},
		"some of a compressed text":    {head: ok + "Content-Encoding: gzip\r\n\r\n", more: zippedText[:20]},
		"all but the end, compressed":  {head: ok + "Content-Encoding: gzip\r\n\r\n", more: zippedText},
		"the end of a compressed text": {head: ok + "Content-Encoding: gzip\r\nContent-Length: 5\r\n\r\n", first: "hello", want: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStepwise(t)
			body := s.open(t, newTransport(t), tc.head)
			if tc.first != "" {
				s.tell(tc.first)
				if n, err := io.ReadFull(body, make([]byte, len("hell"))); n < len("hell") && !strings.Contains(tc.head, "gzip") {
					t.Fatal(n, err)
				}
			}
			if tc.more != "" {
				s.tell(tc.more)
			}
			if tc.end {
				s.end()
			}
			for range 2 { // Ready changes nothing
				if got := ready(body); got != tc.want {
					t.Errorf("ready: %t, want %t", got, tc.want)
				}
			}
			if tc.want {
				if _, err := body.Read(make([]byte, 1)); errorKind(err) == "timeout" {
					t.Error("the read waited")
				}
			}
			if !tc.end {
				s.end()
			}
		})
	}
}

func TestReady_AfterEndOfBody(t *testing.T) {
	t.Parallel()
	p := newPeer(t, respondWith(helloResponse))
	tr := newTransport(t)
	bodies := make([]io.ReadCloser, 3)
	for i := range bodies {
		resp, err := tr.RoundTrip(newRequest(t, http.MethodGet, p.url, nil))
		if err != nil {
			t.Fatal(err)
		}
		if bodies[i] = resp.Body; i == 1 {
			_ = resp.Body.Close()
			continue
		}
		if _, err := io.ReadAll(resp.Body); err != nil {
			t.Fatal(err)
		}
	}
	if !ready(bodies[0]) || ready(bodies[1]) {
		t.Errorf("read to its end: %t, closed: %t", ready(bodies[0]), ready(bodies[1]))
	}
	if _, err := bodies[1].Read(make([]byte, 1)); !errors.Is(err, http.ErrBodyReadAfterClose) {
		t.Errorf("a read after Close: %v", err)
	}
	_ = bodies[0].Close() // its connection may serve another request
	wantHello(t, tr, p.url)
	p.wantCounts(t, 2, 4)
}
