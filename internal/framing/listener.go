package framing

import (
	"context"
	"errors"
	"net"
	"net/http"
	"sync"

	"patchbay/internal/safe"
)

// Listen returns a listener for net/http's server whose connections are read along.
func Listen(l net.Listener) net.Listener { return listener{l} }

type listener struct{ net.Listener }

// Accept waits for a connection.
func (l listener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &conn{Conn: c}, nil
}

// conn is a connection that is read along.
type conn struct {
	net.Conn
	mu      sync.Mutex // guards scanner: net/http reads while a handler runs
	scanner scanner
}

// Read reads. A panic is an error, which ends the connection: net/http reads in a goroutine that does not recover while a handler runs.
func (c *conn) Read(p []byte) (n int, err error) {
	defer safe.RecoverTo(safe.Connection, &err)
	n, err = c.Conn.Read(p)
	if n > 0 {
		c.scan(p[:n])
	}
	return n, err
}

// CloseWrite ends this side alone: net/http does that before it closes a connection on which more is sent than it reads, so that the answer
// arrives.
func (c *conn) CloseWrite() error {
	half, ok := c.Conn.(interface{ CloseWrite() error })
	if !ok {
		return errors.ErrUnsupported
	}
	return half.CloseWrite()
}

func (c *conn) scan(b []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.scanner.scan(b)
}

// next returns the lengths of the next head that no request was compared with. It is false where the connection is not followed any more.
func (c *conn) next() (lengths, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.scanner.heads) == 0 {
		return lengths{}, false
	}
	first := c.scanner.heads[0]
	c.scanner.heads = c.scanner.heads[:copy(c.scanner.heads, c.scanner.heads[1:])]
	return first, true
}

type connKey struct{}

// ConnContext is for [http.Server.ConnContext]: it lets [Refuse] find a request's connection. It returns the connection that Listen's
// listener accepted, too.
func ConnContext(ctx context.Context, c net.Conn) (context.Context, net.Conn) {
	own, ok := c.(*conn)
	if !ok {
		return ctx, c
	}
	return context.WithValue(ctx, connKey{}, own), own.Conn
}

// Refuse answers a request with two lengths with 400 and ends its connection. It stands before all other handlers of a server whose
// DisableGeneralOptionsHandler is set, so that it sees each request.
func Refuse(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c, ok := r.Context().Value(connKey{}).(*conn)
		if !ok || r.ProtoMajor != 1 {
			next.ServeHTTP(w, r)
			return
		}
		head, followed := c.next()
		switch {
		case followed && !agrees(head, r):
			w.Header().Set("Connection", "close")
			http.Error(w, "400 Bad Request: the length of the body is ambiguous", http.StatusBadRequest)
			return
		case !followed && r.TransferEncoding != nil:
			w.Header().Set("Connection", "close")
		}
		next.ServeHTTP(w, r)
	})
}

// agrees reports whether a head says the length of its body in one way, and net/http has read it in that way. HTTP/1.0 knows no
// Transfer-Encoding.
func agrees(head lengths, r *http.Request) bool {
	if head.encoded {
		return !head.measured && r.ProtoAtLeast(1, 1) && r.TransferEncoding != nil
	}
	_, measured := r.Header["Content-Length"]
	return r.TransferEncoding == nil && head.measured == measured
}
