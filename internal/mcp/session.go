package mcp

import (
	"context"
	"encoding/json"
	"sync"
	"sync/atomic"
	"time"
)

// ServerInfo is the server's description of itself, all of it remote text: show it escaped.
type ServerInfo struct {
	Name            string
	Version         string
	Title           string
	ProtocolVersion string
	Instructions    string
}

// Session is an open session with one server. It is safe for concurrent use.
type Session struct {
	dialer      *Dialer
	target      Target
	era         Era // that worked last; only one opening runs at a time
	retryPolicy retryPolicy
	deadline    time.Time    // of the first list, that of a sync
	lastID      atomic.Int64 // of requests
	hasListed   atomic.Bool

	ctx        context.Context // ends with Close
	cancel     context.CancelFunc
	background sync.WaitGroup // goroutines that no caller waits for

	mu        sync.Mutex // guards the fields below
	conn      *connection
	reconnect *reconnectAttempt // running; nil: none
	isClosed  bool
}

// Era returns the era that the server speaks.
func (s *Session) Era() Era { return s.currentConnection().eraName }

// IsStateful reports whether the server can keep state for this session: it is a program, sends everything on one
// stream, or gave the session an id.
func (s *Session) IsStateful() bool {
	t, ok := s.currentConnection().transport.(*httpTransport)
	return !ok || t.sessionID != ""
}

// minHintedID is the length from which the beginning of a session id tells nothing of use about the rest.
const minHintedID = 24

// IDHint returns the first eight characters of the session's id, which is secret; empty: it has no id, or a short one.
func (s *Session) IDHint() string {
	t, ok := s.currentConnection().transport.(*httpTransport)
	if !ok || len(t.sessionID) < minHintedID {
		return ""
	}
	return t.sessionID[:8]
}

// Server returns the server's info from the opening.
func (s *Session) Server() ServerInfo { return s.currentConnection().server }

// Icons returns the list of icons of the server's info as the server wrote it; nil: it has none. known is false if the session
// relies on cached info, which has no icons.
func (s *Session) Icons() (icons json.RawMessage, known bool) {
	c := s.currentConnection()
	return c.icons, !c.usesCachedInfo
}

// Capabilities returns the server's capabilities as it wrote them, or nil if it declared none.
func (s *Session) Capabilities() json.RawMessage { return s.currentConnection().serverCapabilities }

func (s *Session) currentConnection() *connection {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.conn
}

// Tools reads the whole tool list. If the session was lost, or Known was stale, it reconnects once and starts
// again, because cursors belong to a session. Every error is an *Error.
func (s *Session) Tools(ctx context.Context) (ToolList, error) {
	end := s.listDeadline()
	c := s.currentConnection()
	list, err := c.listTools(deadlineContext{ctx, end})
	if !isSessionLost(err) && !c.isInfoStale(list, err) {
		return list, err
	}
	ctx, cancel := context.WithDeadline(ctx, end)
	defer cancel()
	if c, err = s.waitForReplacement(ctx, c); err != nil {
		return ToolList{}, err
	}
	return c.listTools(ctx)
}

// listDeadline is the deadline of one list. The first shares its time with Dial, so that a whole sync is
// bounded.
func (s *Session) listDeadline() time.Time {
	if s.hasListed.Swap(true) {
		return time.Now().Add(s.target.timeBudget())
	}
	return s.deadline
}

// Close cancels running requests and closes the session on the server, within three seconds. Errors are
// ignored. It also works after ctx has ended.
func (s *Session) Close(ctx context.Context) {
	s.mu.Lock()
	isFirst := !s.isClosed
	s.isClosed = true
	s.mu.Unlock()
	if !isFirst {
		return
	}
	s.reportProgress(Progress{Phase: PhaseClose})
	s.cancel()
	s.background.Wait()
	s.currentConnection().close(ctx)
}

func (s *Session) reportProgress(p Progress) {
	if s.target.Observe != nil {
		s.target.Observe(p)
	}
}
