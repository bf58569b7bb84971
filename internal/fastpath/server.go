package fastpath

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Options make a [Server]. Handler, Takes and Rest are required.
type Options struct {
	Handler http.Handler
	Takes   func(path string) bool // the paths that are served here, where a request is plain; of the characters of [head.parse]
	Rest    *http.Server           // serves everything else
	// Around is put around what Rest accepts; nil: nothing is.
	Around func(net.Listener) net.Listener

	ReadHeaderTimeout time.Duration // from a request's first byte to the end of its head; 0: 10 s
	IdleTimeout       time.Duration // between two requests; 0: 75 s
	Stall             time.Duration // how long a client may take no byte and send none, where the handler says nothing else; 0: 30 s
	Log               *slog.Logger  // nil: nowhere
}

// Server serves connections. Its methods may be called at any time, each listener once.
type Server struct {
	o       Options
	closing atomic.Bool
	over    chan struct{} // closed with closing
	clock   atomic.Uint32 // looks of the sweeper
	others  *others       // connections for Rest

	mu       sync.Mutex // guards what follows
	listener net.Listener
	conns    map[*conn]struct{}
	sweeping bool
	ended    chan struct{} // closed when none is left; nil: before Shutdown
}

// New makes a server.
func New(o Options) *Server {
	if o.ReadHeaderTimeout <= 0 {
		o.ReadHeaderTimeout = 10 * time.Second
	}
	if o.IdleTimeout <= 0 {
		o.IdleTimeout = 75 * time.Second
	}
	if o.Stall <= 0 {
		o.Stall = 30 * time.Second
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return &Server{o: o, over: make(chan struct{}), conns: map[*conn]struct{}{}}
}

// Serve takes connections from l until [Server.Shutdown] or [Server.Close], and then returns [http.ErrServerClosed].
func (s *Server) Serve(l net.Listener) error {
	s.mu.Lock()
	s.listener, s.others = l, newOthers(l.Addr())
	s.mu.Unlock()
	var rest net.Listener = s.others
	if s.o.Around != nil {
		rest = s.o.Around(rest)
	}
	failed := make(chan error, 1)
	go func() { failed <- s.o.Rest.Serve(rest) }()
	err := s.accept(l)
	if !s.closing.Load() {
		_ = s.Close()
	}
	<-failed
	if errors.Is(err, net.ErrClosed) {
		return http.ErrServerClosed
	}
	return err
}

// accept serves each connection in a goroutine of its own. Where there is no room for another one, it waits, as net/http does.
func (s *Server) accept(l net.Listener) error {
	wait := time.Duration(0)
	for {
		c, err := l.Accept()
		if err == nil {
			wait = 0
			s.take(c)
			continue
		}
		again, ok := errors.AsType[net.Error](err)
		if !ok || !again.Temporary() || s.closing.Load() { //nolint:staticcheck // nothing else tells that there were too many files
			return err
		}
		wait = min(max(2*wait, 5*time.Millisecond), time.Second)
		s.o.Log.Warn("no connection accepted", "reason", err, "retry_in", wait.String())
		select {
		case <-time.After(wait):
		case <-s.over:
		}
	}
}

// take begins with a connection.
func (s *Server) take(made net.Conn) {
	c := newConn(s, made)
	s.mu.Lock()
	if s.closing.Load() {
		s.mu.Unlock()
		_ = made.Close()
		return
	}
	s.conns[c] = struct{}{}
	if !s.sweeping {
		s.sweeping = true
		go s.sweep()
	}
	s.mu.Unlock()
	go c.serve()
}

// forget is for a connection that has ended, or is somebody else's now.
func (s *Server) forget(c *conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, there := s.conns[c]; !there {
		return
	}
	delete(s.conns, c)
	if len(s.conns) == 0 && s.ended != nil {
		close(s.ended) // once: none is taken any more
	}
}

// close says that the server ends.
func (s *Server) close() {
	if s.closing.CompareAndSwap(false, true) {
		close(s.over)
	}
}

// Shutdown takes no more connections, closes those that ask for nothing, and waits for the others' answers, here and in Rest. When ctx
// ends before, it returns why, and what is under way goes on.
func (s *Server) Shutdown(ctx context.Context) error {
	s.close()
	s.mu.Lock()
	if s.ended == nil {
		s.ended = make(chan struct{})
		if len(s.conns) == 0 {
			close(s.ended)
		}
	}
	ended, l := s.ended, s.listener
	s.mu.Unlock()
	if l != nil {
		_ = l.Close()
	}
	s.look() // the idle ones need not wait for the sweeper
	rest := s.o.Rest.Shutdown(ctx)
	select {
	case <-ended:
		return rest
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Close ends everything at once.
func (s *Server) Close() error {
	s.close()
	s.mu.Lock()
	l := s.listener
	conns := slices.Collect(maps.Keys(s.conns))
	s.mu.Unlock()
	for _, c := range conns {
		c.cut()
	}
	var err error
	if l != nil {
		err = l.Close()
	}
	return errors.Join(err, s.o.Rest.Close())
}
