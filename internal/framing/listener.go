package framing

import (
	"context"
	"errors"
	"net"
	"net/http"
	"sync"

	"patchbay/internal/safe"
)

// Listen returns a listener for net/http's server that scans its connections.
func Listen(l net.Listener) net.Listener { return framingListener{l} }

type framingListener struct{ net.Listener }

// Accept waits for a connection.
func (l framingListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &framedConn{Conn: c}, nil
}

// framedConn scans what is read from it.
type framedConn struct {
	net.Conn
	mu      sync.Mutex // guards scanner: net/http reads while a handler runs
	scanner scanner
}

// Read turns a panic into an error, which ends the connection: while a handler runs, net/http reads in a
// goroutine that does not recover.
func (c *framedConn) Read(p []byte) (n int, err error) {
	defer safe.RecoverTo(safe.Connection, &err)
	n, err = c.Conn.Read(p)
	if n > 0 {
		c.scanBytes(p[:n])
	}
	return n, err
}

// CloseWrite closes the writing side. net/http calls it before it closes a connection with unread data, so that
// the response arrives.
func (c *framedConn) CloseWrite() error {
	half, ok := c.Conn.(interface{ CloseWrite() error })
	if !ok {
		return errors.ErrUnsupported
	}
	return half.CloseWrite()
}

func (c *framedConn) scanBytes(b []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.scanner.scan(b)
}

// nextHead returns the lengths of the next head that was not compared yet. It returns false if the scanner lost
// the connection.
func (c *framedConn) nextHead() (bodyLengths, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.scanner.heads) == 0 {
		return bodyLengths{}, false
	}
	first := c.scanner.heads[0]
	c.scanner.heads = c.scanner.heads[:copy(c.scanner.heads, c.scanner.heads[1:])]
	return first, true
}

type connContextKey struct{}

// ConnContext is for [http.Server.ConnContext], so that [Refuse] finds a request's connection. It also returns
// the connection of Listen's listener.
func ConnContext(ctx context.Context, c net.Conn) (context.Context, net.Conn) {
	own, ok := c.(*framedConn)
	if !ok {
		return ctx, c
	}
	return context.WithValue(ctx, connContextKey{}, own), own.Conn
}

// Refuse responds to a request with two lengths with 400 and closes its connection. It has to be the outermost
// handler of a server with DisableGeneralOptionsHandler, so that it gets each request.
func Refuse(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c, ok := r.Context().Value(connContextKey{}).(*framedConn)
		if !ok || r.ProtoMajor != 1 {
			next.ServeHTTP(w, r)
			return
		}
		head, followed := c.nextHead()
		switch {
		case followed && !hasOneLength(head, r):
			w.Header().Set("Connection", "close")
			http.Error(w, "400 Bad Request: the length of the body is ambiguous", http.StatusBadRequest)
			return
		case !followed && r.TransferEncoding != nil:
			w.Header().Set("Connection", "close")
		}
		next.ServeHTTP(w, r)
	})
}

// hasOneLength reports whether a head has one length, and net/http has used that one. HTTP/1.0 has no
// Transfer-Encoding.
func hasOneLength(head bodyLengths, r *http.Request) bool {
	if head.hasTransferEncoding {
		return !head.hasContentLength && r.ProtoAtLeast(1, 1) && r.TransferEncoding != nil
	}
	_, measured := r.Header["Content-Length"]
	return r.TransferEncoding == nil && head.hasContentLength == measured
}
