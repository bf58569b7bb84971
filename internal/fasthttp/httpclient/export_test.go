package httpclient

import (
	"bufio"
	"net"
	"net/http"
	"strings"
	"syscall"
)

// Once is a connection for one exchange.
type Once struct{ c *conn }

// NewOnce makes a connection reusable that cannot be inspected.
func NewOnce(t *Transport, made net.Conn) Once {
	c := t.newConn(made, poolKey{address: "example.com:80"})
	c.raw = unpeekable{}
	return Once{c}
}

type unpeekable struct{ syscall.RawConn }

// Ask sends a request with fixed bytes.
func (o Once) Ask(r *http.Request) (*http.Response, error) {
	return o.c.roundTrip(r, []byte(r.Method+" / HTTP/1.1\r\nHost: example.com\r\n\r\n"))
}

// Kept reports whether the connection is in the idle pool.
func (o Once) Kept() bool {
	idle := &o.c.transport.idle
	if idle.timer != nil {
		idle.timer.Stop()
	}
	return idle.get(o.c.key) == o.c
}

// In is the connection's reader; nil: it is idle.
func (o Once) In() *bufio.Reader { return o.c.in }

// IsPlain reports whether a response is read without net/http's reader.
func IsPlain(text, method string) bool { return Plain(method, text)[0] != nil }

// Plain reads the heads of responses on one connection; nil for those that are not plain.
func Plain(method string, texts ...string) (all []*http.Response) {
	all, _ = plainAndKept(method, texts)
	return all
}

// KeptLines is the size of a connection's line cache after these heads, in bytes.
func KeptLines(texts ...string) (n int) {
	_, last := plainAndKept("POST", texts)
	for _, l := range last.entries[:cap(last.entries)] {
		n += len(l.text)
	}
	return n
}

func plainAndKept(method string, texts []string) (all []*http.Response, last lineCache) {
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
