package h1

import (
	"bufio"
	"net"
	"net/http"
	"strings"
	"syscall"
)

// Once is a connection for one exchange, which is kept where that ends well.
type Once struct{ c *conn }

// NewOnce takes a connection that nobody can look at for one that can be kept.
func NewOnce(t *Transport, made net.Conn) Once {
	c := t.newConn(made, slot{address: "example.com:80"})
	c.raw = unseen{}
	return Once{c}
}

type unseen struct{ syscall.RawConn }

// Ask sends a request whose bytes do not matter.
func (o Once) Ask(r *http.Request) (*http.Response, error) {
	return o.c.exchange(r, []byte(r.Method+" / HTTP/1.1\r\nHost: example.com\r\n\r\n"))
}

// Kept tells whether the connection would serve another request.
func (o Once) Kept() bool {
	idle := &o.c.owner.idle
	if idle.timer != nil {
		idle.timer.Stop()
	}
	return idle.take(o.c.slot) == o.c
}

// In is what the connection is read from; nil: it is idle.
func (o Once) In() *bufio.Reader { return o.c.in }

// IsPlain tells whether a response is read without net/http's reader.
func IsPlain(text, method string) bool { return Plain(method, text)[0] != nil }

// Plain reads the heads of responses on one connection; nil for those that are not plain.
func Plain(method string, texts ...string) (all []*http.Response) {
	all, _ = plainAndKept(method, texts)
	return all
}

// KeptLines is how many bytes of lines a connection keeps that has read these heads.
func KeptLines(texts ...string) (n int) {
	_, last := plainAndKept("POST", texts)
	for _, l := range last.of[:cap(last.of)] {
		n += len(l.text)
	}
	return n
}

func plainAndKept(method string, texts []string) (all []*http.Response, last lines) {
	for _, text := range texts {
		in := bufio.NewReaderSize(strings.NewReader(text), 16<<10)
		_, _ = in.Peek(1)
		p := readPlain(in, &http.Request{Method: method}, &last)
		if p == nil {
			all = append(all, nil)
			continue
		}
		all = append(all, &p.response)
	}
	return all, last
}
