package mcptest

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
)

// StartInMemory serves the script without a network until the test ends, for a testing/synctest bubble. Clients
// dial with the server's DialContext.
func StartInMemory(t testing.TB, script Script) *Server {
	t.Helper()
	s := newServer(script)
	s.memory = &memoryListener{conns: make(chan net.Conn), closed: make(chan struct{})}
	s.http = &httptest.Server{Listener: s.memory, Config: &http.Server{Handler: s}}
	s.http.Start()
	s.endWith(t)
	return s
}

// DialContext connects to an in-memory server, whatever the address.
func (s *Server) DialContext(ctx context.Context, _, _ string) (net.Conn, error) {
	return s.memory.dialMemory(ctx)
}

// memoryListener is a listener without a network.
type memoryListener struct {
	conns  chan net.Conn
	closed chan struct{}
	close  sync.Once
}

func (m *memoryListener) dialMemory(ctx context.Context) (net.Conn, error) {
	here, there := net.Pipe()
	select {
	case m.conns <- there:
		return here, nil
	case <-m.closed:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Accept returns the server's end of the next connection.
func (m *memoryListener) Accept() (net.Conn, error) {
	select {
	case conn := <-m.conns:
		return conn, nil
	case <-m.closed:
		return nil, net.ErrClosed
	}
}

// Close refuses further connections.
func (m *memoryListener) Close() error {
	m.close.Do(func() { close(m.closed) })
	return nil
}

// Addr returns a placeholder.
func (m *memoryListener) Addr() net.Addr { return memoryAddr{} }

type memoryAddr struct{}

// Network returns a placeholder.
func (memoryAddr) Network() string { return "memory" }

// String is the host of every in-memory server.
func (memoryAddr) String() string { return "in-memory.test" }
