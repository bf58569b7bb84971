package httpserver

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

// Options configure a [Server]. Handler, Accepts and Fallback are required.
type Options struct {
	Handler  http.Handler
	Accepts  func(path string) bool // paths served here if the request is plain; they have the characters of [requestHead.parse]
	Fallback *http.Server           // serves all other connections
	// WrapListener wraps the listener of Fallback; nil: it is not wrapped.
	WrapListener func(net.Listener) net.Listener

	ReadHeaderTimeout time.Duration // for a head from its first byte, and for the first head from the accept; 0: 10 s
	IdleTimeout       time.Duration // between two requests; 0: 75 s
	StallTimeout      time.Duration // for a body and for each write without a deadline of the handler; a body gets 1 s more per 128 KiB; 0: 30 s
	Log               *slog.Logger  // nil: discarded
}

// Server serves connections. Its methods may be called concurrently, Serve once.
type Server struct {
	options   Options
	startedAt time.Time
	clock     atomic.Uint32 // ticks since startedAt
	closing   atomic.Bool
	closingCh chan struct{}     // closed when closing becomes true
	fallback  *fallbackListener // connections for Fallback

	shards    [shardCount]connShard
	nextShard atomic.Uint32 // index of the shard of the next connection

	mu        sync.Mutex // guards the fields below
	listener  net.Listener
	connCount int           // connections, plus one until the server closes
	allDone   chan struct{} // closed when connCount is 0
}

// New returns a server that is not listening yet.
func New(o Options) *Server {
	if o.ReadHeaderTimeout <= 0 {
		o.ReadHeaderTimeout = 10 * time.Second
	}
	if o.IdleTimeout <= 0 {
		o.IdleTimeout = 75 * time.Second
	}
	if o.StallTimeout <= 0 {
		o.StallTimeout = 30 * time.Second
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	s := &Server{options: o, startedAt: time.Now(), closingCh: make(chan struct{}), allDone: make(chan struct{}), connCount: 1}
	for i := range s.shards {
		s.shards[i].conns = map[*conn]struct{}{}
	}
	return s
}

// Serve accepts connections from l until [Server.Shutdown] or [Server.Close], and then returns
// [http.ErrServerClosed].
func (s *Server) Serve(l net.Listener) error {
	fallback := newFallbackListener(l.Addr())
	if !s.setListener(l, fallback) {
		return errors.Join(http.ErrServerClosed, l.Close())
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	safe.Go(safe.Background, func() { safe.RunLoop(ctx, "connections", func(context.Context) { s.sweepLoop() }) })
	var rest net.Listener = fallback
	if s.options.WrapListener != nil {
		rest = s.options.WrapListener(rest)
	}
	failed := make(chan error, 1)
	safe.Go(safe.Connection, func() {
		failed <- safe.Try(safe.Connection, func() error { return s.options.Fallback.Serve(rest) })()
	})
	err := s.acceptConns(l)
	if !s.closing.Load() {
		_ = s.Close()
	}
	<-failed
	if errors.Is(err, net.ErrClosed) {
		return http.ErrServerClosed
	}
	return err
}

// acceptConns serves each connection in its own goroutine. It retries temporary errors of Accept with a
// backoff, as net/http does.
func (s *Server) acceptConns(l net.Listener) error {
	wait := time.Duration(0)
	for {
		c, err := l.Accept()
		if err == nil {
			wait = 0
			s.startConn(c)
			continue
		}
		again, ok := errors.AsType[net.Error](err)
		if !ok || !again.Temporary() || s.closing.Load() { //nolint:staticcheck // nothing else tells that there were too many files
			return err
		}
		wait = min(max(2*wait, 5*time.Millisecond), time.Second)
		s.options.Log.Warn("no connection accepted", "reason", err, "retry_in", wait.String())
		select {
		case <-time.After(wait):
		case <-s.closingCh:
		}
	}
}

// setListener reports whether the server is still to accept connections.
func (s *Server) setListener(l net.Listener, fallback *fallbackListener) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closing.Load() {
		return false
	}
	s.listener, s.fallback = l, fallback
	return true
}

// startConn starts serving a connection. A panic closes only that connection.
func (s *Server) startConn(netConn net.Conn) {
	s.mu.Lock()
	if s.closing.Load() {
		s.mu.Unlock()
		_ = netConn.Close()
		return
	}
	s.connCount++
	s.mu.Unlock()
	begun := false
	defer func() {
		if !begun {
			_ = netConn.Close()
			s.releaseConn()
		}
	}()
	defer safe.Recover(safe.Connection)
	c := newConn(s, netConn, &s.shards[s.nextShard.Add(1)%shardCount])
	c.shard.mu.Lock()
	c.shard.conns[c] = struct{}{}
	c.shard.mu.Unlock()
	if s.closing.Load() { // Close may have run before c was in its shard
		c.closeNow()
	}
	begun = true
	safe.Go(safe.Connection, c.serve)
}

// removeConn forgets a connection that is closed or handed over.
func (s *Server) removeConn(c *conn) {
	c.shard.mu.Lock()
	delete(c.shard.conns, c)
	c.shard.mu.Unlock()
	s.releaseConn()
}

// releaseConn decrements connCount.
func (s *Server) releaseConn() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.connCount--; s.connCount == 0 {
		close(s.allDone)
	}
}

// stopAccepting marks the server as closing and closes its listener.
func (s *Server) stopAccepting() error {
	s.mu.Lock()
	first := s.closing.CompareAndSwap(false, true)
	l := s.listener
	s.mu.Unlock()
	if first {
		close(s.closingCh)
		s.releaseConn()
	}
	if l == nil {
		return nil
	}
	if err := l.Close(); !errors.Is(err, net.ErrClosed) {
		return err
	}
	return nil
}

// Shutdown stops accepting, closes idle connections, and waits for the responses of the others, here and in
// Rest. If ctx ends first, Shutdown returns its cause, and the requests go on.
func (s *Server) Shutdown(ctx context.Context) error {
	_ = s.stopAccepting()
	for i := range s.shards {
		s.expireConns(&s.shards[i]) // without waiting for the sweeper
	}
	rest := s.options.Fallback.Shutdown(ctx)
	select {
	case <-s.allDone:
		return rest
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Close closes all connections at once.
func (s *Server) Close() error {
	err := s.stopAccepting()
	for i := range s.shards {
		for _, c := range s.shards[i].allConns() {
			c.closeNow()
		}
	}
	return errors.Join(err, s.options.Fallback.Close())
}
