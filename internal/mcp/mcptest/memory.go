package mcptest

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
)

// StartInMemory serves the script without a network until the test ends, so that client and server can live in a bubble of
// testing/synctest: no machine is too slow for a deadline there. Clients dial with the server's DialContext.
func StartInMemory(t testing.TB, script Script) *Server {
	t.Helper()
	s := newServer(script)
	s.memory = &memory{conns: make(chan net.Conn), closed: make(chan struct{})}
	s.http = &httptest.Server{Listener: s.memory, Config: &http.Server{Handler: s}}
	s.http.Start()
	s.endWith(t)
	return s
}

// DialContext connects to a server in memory, whatever the address.
func (s *Server) DialContext(ctx context.Context, _, _ string) (net.Conn, error) {
	return s.memory.dial(ctx)
}

// memory is a listener without a network.
type memory struct {
	conns  chan net.Conn
	closed chan struct{}
	close  sync.Once
}

func (m *memory) dial(ctx context.Context) (net.Conn, error) {
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
func (m *memory) Accept() (net.Conn, error) {
	select {
	case conn := <-m.conns:
		return conn, nil
	case <-m.closed:
		return nil, net.ErrClosed
	}
}

// Close refuses all further connections.
func (m *memory) Close() error {
	m.close.Do(func() { close(m.closed) })
	return nil
}

// Addr is the listener's name.
func (m *memory) Addr() net.Addr { return memoryAddr{} }

type memoryAddr struct{}

// Network says that there is none.
func (memoryAddr) Network() string { return "memory" }

// String is the host of every server in memory.
func (memoryAddr) String() string { return "in-memory.test" }
