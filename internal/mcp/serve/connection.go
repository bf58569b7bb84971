package serve

import (
	"io"
	"net"
	"net/http"
	"strconv"
	"time"
)

// connection is one that was taken from the HTTP server, for a stream that stays: the server's buffers and goroutine are given back,
// which are most of what an idle stream costs.
type connection struct {
	conn  net.Conn
	stall time.Duration
}

// takeOver takes the visit's connection and begins the reply on it; nil: it cannot be had, as with HTTP/2.
func takeOver(v *visit) *connection {
	if v.r.ProtoMajor != 1 || v.r.ProtoMinor < 1 {
		return nil
	}
	conn, _, err := http.NewResponseController(v.w).Hijack()
	if err != nil {
		return nil
	}
	c := &connection{conn: conn, stall: v.s.opts.Stall}
	h := v.w.Header()
	streamHeader(h)
	h.Set("Transfer-Encoding", "chunked")
	h.Set("Connection", "close")
	h.Set("Date", time.Now().UTC().Format(http.TimeFormat))
	head := buffer()
	defer reuse(head)
	into := appender{head}
	_, _ = io.WriteString(into, "HTTP/1.1 200 OK\r\n")
	_ = h.Write(into) // memory takes everything
	_, _ = io.WriteString(into, "\r\n")
	_ = conn.SetDeadline(time.Time{})
	if c.raw(*head) != nil {
		_ = conn.Close()
	}
	return c // of one that is gone the first write tells
}

type appender struct{ to *[]byte }

func (a appender) Write(p []byte) (int, error) {
	*a.to = append(*a.to, p...)
	return len(p), nil
}

// write sends whole events, as one chunk.
func (c *connection) write(events []byte) error {
	b := buffer()
	defer reuse(b)
	*b = append(strconv.AppendInt(*b, int64(len(events)), 16), "\r\n"...)
	*b = append(append(*b, events...), "\r\n"...)
	return c.raw(*b)
}

func (c *connection) raw(b []byte) error {
	_ = c.conn.SetWriteDeadline(time.Now().Add(c.stall))
	_, err := c.conn.Write(b)
	return err
}

// await returns when the client has gone, or the connection was closed. A client that says something more is not one of ours.
func (c *connection) await() {
	var one [1]byte
	_, _ = c.conn.Read(one[:])
}

// close ends the reply.
func (c *connection) close() {
	_ = c.raw([]byte("0\r\n\r\n"))
	_ = c.conn.Close()
}
