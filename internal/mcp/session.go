package mcp

import (
	"context"
	"encoding/json"
	"sync"
	"sync/atomic"
	"time"
)

// ServerInfo is what a server says of itself. All of it is remote text: show it escaped.
type ServerInfo struct {
	Name            string
	Version         string
	Title           string
	ProtocolVersion string
	Instructions    string
}

// Session is an open conversation with one server. It is safe for concurrent use.
type Session struct {
	dialer   *Dialer
	target   Target
	era      Era // the one that answered last; openings come one after the other
	retry    retry
	deadline time.Time    // of the first list, which is a sync's
	ids      atomic.Int64 // the last one given to a request
	listed   atomic.Bool

	life  context.Context // ends with Close
	end   context.CancelFunc
	tasks sync.WaitGroup // what goes on besides the callers

	mu      sync.Mutex // guards what follows
	now     *conversation
	renewal *renewal // under way; nil: none
	closed  bool
}

// Era returns the era in which the server answers.
func (s *Session) Era() Era { return s.current().name }

// Server returns what the server said of itself when the session was opened.
func (s *Session) Server() ServerInfo { return s.current().server }

// Capabilities returns what the server said that it can do, as it wrote it: an object, or nil where it did not say.
func (s *Session) Capabilities() json.RawMessage { return s.current().offers }

func (s *Session) current() *conversation {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now
}

// Tools reads the whole tool list. A session that the server lost meanwhile, or that went by what is known of a server and was wrong, is
// opened anew, once, and the list begun again: cursors belong to a session. Every error is an *Error.
func (s *Session) Tools(ctx context.Context) (ToolList, error) {
	end := s.listEnd()
	c := s.current()
	list, err := c.list(until{ctx, end})
	if !lost(err) && !c.deceived(list, err) {
		return list, err
	}
	ctx, cancel := context.WithDeadline(ctx, end)
	defer cancel()
	if c, err = s.renew(ctx, c); err != nil {
		return ToolList{}, err
	}
	return c.list(ctx)
}

// listEnd is by when one list must have come. The first one shares its time with Dial, so that a whole sync is bounded.
func (s *Session) listEnd() time.Time {
	if s.listed.Swap(true) {
		return time.Now().Add(s.target.budget())
	}
	return s.deadline
}

// Close ends what is under way, and the session on the server, within three seconds and as a courtesy: its failure changes
// nothing. It works after ctx has ended, too.
func (s *Session) Close(ctx context.Context) {
	s.mu.Lock()
	first := !s.closed
	s.closed = true
	s.mu.Unlock()
	if !first {
		return
	}
	s.report(Progress{Phase: PhaseClose})
	s.end()
	s.tasks.Wait()
	s.current().close(ctx)
}

func (s *Session) report(p Progress) {
	if s.target.Observe != nil {
		s.target.Observe(p)
	}
}
