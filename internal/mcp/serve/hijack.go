package serve

import (
	"io"
	"net"
	"net/http"
	"strconv"
	"time"
)

// hijackedConn is a connection hijacked from the HTTP server for a long-lived stream. That frees the server's
// buffers and goroutine, most of the cost of an idle stream.
type hijackedConn struct {
	conn  net.Conn
	stall time.Duration
}

// hijackConn hijacks the request's connection and begins the reply; nil: not allowed, or not possible, as with
// HTTP/2.
func hijackConn(v *httpRequest) *hijackedConn {
	if v.s.opts.UseNetHTTP || v.r.ProtoMajor != 1 || v.r.ProtoMinor < 1 {
		return nil
	}
	conn, _, err := http.NewResponseController(v.w).Hijack()
	if err != nil {
		return nil
	}
	c := &hijackedConn{conn: conn, stall: v.s.opts.StallTimeout}
	h := v.w.Header()
	setStreamHeader(h)
	h.Set("Transfer-Encoding", "chunked")
	h.Set("Connection", "close")
	h.Set("Date", time.Now().UTC().Format(http.TimeFormat))
	head := getBuffer()
	defer putBuffer(head)
	into := sliceWriter{head}
	_, _ = io.WriteString(into, "HTTP/1.1 200 OK\r\n")
	_ = h.Write(into) // a slice takes everything
	_, _ = io.WriteString(into, "\r\n")
	_ = conn.SetDeadline(time.Time{})
	if c.writeRaw(*head) != nil {
		_ = conn.Close()
	}
	return c // if it is closed, the first write fails
}

type sliceWriter struct{ target *[]byte }

func (w sliceWriter) Write(p []byte) (int, error) {
	*w.target = append(*w.target, p...)
	return len(p), nil
}

// write writes whole events as one chunk.
func (c *hijackedConn) write(events []byte) error {
	b := getBuffer()
	defer putBuffer(b)
	*b = append(strconv.AppendInt(*b, int64(len(events)), 16), "\r\n"...)
	*b = append(append(*b, events...), "\r\n"...)
	return c.writeRaw(*b)
}

func (c *hijackedConn) writeRaw(b []byte) error {
	_ = c.conn.SetWriteDeadline(time.Now().Add(c.stall))
	_, err := c.conn.Write(b)
	return err
}

// waitClosed returns when the connection is closed. A client that sends something more breaks the protocol, and
// is closed too.
func (c *hijackedConn) waitClosed() {
	var one [1]byte
	_, _ = c.conn.Read(one[:])
}

// close ends the reply and closes the connection.
func (c *hijackedConn) close() {
	_ = c.writeRaw([]byte("0\r\n\r\n"))
	_ = c.conn.Close()
}
