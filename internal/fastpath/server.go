package fastpath

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"patchbay/internal/safe"
)

// Options make a [Server]. Handler, Takes and Rest are required.
type Options struct {
	Handler http.Handler
	Takes   func(path string) bool // the paths that are served here, where a request is plain; of the characters of [head.parse]
	Rest    *http.Server           // serves everything else
	// Around is put around what Rest accepts; nil: nothing is.
	Around func(net.Listener) net.Listener

	ReadHeaderTimeout time.Duration // for a head, from its first byte, and for the first one from the beginning; 0: 10 s
	IdleTimeout       time.Duration // between two requests; 0: 75 s
	Stall             time.Duration // for a body, and for each write, where the handler says nothing else; for a body a second more each 128 KiB; 0: 30 s
	Log               *slog.Logger  // nil: nowhere
}

// Server serves connections. Its methods may be called at any time, Serve once.
type Server struct {
	o       Options
	began   time.Time
	clock   atomic.Uint32 // ticks since began
	closing atomic.Bool
	over    chan struct{} // closed with closing
	others  *others       // connections for Rest

	shelves [shelves]shelf
	next    atomic.Uint32 // shelf

	mu       sync.Mutex // guards what follows
	listener net.Listener
	count    int           // of connections; and one until the server ends
	none     chan struct{} // closed when there are none, and will be none
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
	s := &Server{o: o, began: time.Now(), over: make(chan struct{}), none: make(chan struct{}), count: 1}
	for i := range s.shelves {
		s.shelves[i].conns = map[*conn]struct{}{}
	}
	return s
}

// Serve takes connections from l until [Server.Shutdown] or [Server.Close], and then returns [http.ErrServerClosed].
func (s *Server) Serve(l net.Listener) error {
	s.mu.Lock()
	if s.closing.Load() {
		s.mu.Unlock()
		return errors.Join(http.ErrServerClosed, l.Close())
	}
	s.listener, s.others = l, newOthers(l.Addr())
	s.mu.Unlock()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	safe.Go(safe.Background, func() { safe.RunLoop(ctx, "connections", func(context.Context) { s.sweep() }) })
	var rest net.Listener = s.others
	if s.o.Around != nil {
		rest = s.o.Around(rest)
	}
	failed := make(chan error, 1)
	safe.Go(safe.Connection, func() {
		failed <- safe.Try(safe.Connection, func() error { return s.o.Rest.Serve(rest) })()
	})
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

// take begins with a connection. A panic ends that connection alone.
func (s *Server) take(made net.Conn) {
	s.mu.Lock()
	if s.closing.Load() {
		s.mu.Unlock()
		_ = made.Close()
		return
	}
	s.count++
	s.mu.Unlock()
	begun := false
	defer func() {
		if !begun {
			_ = made.Close()
			s.less()
		}
	}()
	defer safe.Recover(safe.Connection)
	c := newConn(s, made, &s.shelves[s.next.Add(1)%shelves])
	c.on.mu.Lock()
	c.on.conns[c] = struct{}{}
	c.on.mu.Unlock()
	if s.closing.Load() { // meanwhile: nobody else has seen it
		c.cut()
	}
	begun = true
	safe.Go(safe.Connection, c.serve)
}

// forget is for a connection that has ended, or is somebody else's now.
func (s *Server) forget(c *conn) {
	c.on.mu.Lock()
	delete(c.on.conns, c)
	c.on.mu.Unlock()
	s.less()
}

// less counts one less.
func (s *Server) less() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.count--; s.count == 0 {
		close(s.none)
	}
}

// close says that the server ends, and accepts nothing more.
func (s *Server) close() error {
	s.mu.Lock()
	first := s.closing.CompareAndSwap(false, true)
	l := s.listener
	s.mu.Unlock()
	if first {
		close(s.over)
		s.less()
	}
	if l == nil {
		return nil
	}
	if err := l.Close(); !errors.Is(err, net.ErrClosed) {
		return err
	}
	return nil
}

// Shutdown takes no more connections, closes those that ask for nothing, and waits for the others' answers, here and in Rest. When ctx
// ends before, it returns why, and what is under way goes on.
func (s *Server) Shutdown(ctx context.Context) error {
	_ = s.close()
	for i := range s.shelves {
		s.expire(&s.shelves[i]) // the idle ones need not wait for the sweeper
	}
	rest := s.o.Rest.Shutdown(ctx)
	select {
	case <-s.none:
		return rest
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Close ends everything at once.
func (s *Server) Close() error {
	err := s.close()
	for i := range s.shelves {
		for _, c := range s.shelves[i].all() {
			c.cut()
		}
	}
	return errors.Join(err, s.o.Rest.Close())
}
