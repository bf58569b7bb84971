package mcp

import (
	"context"

	"patchbay/internal/safe"
)

// renewal is the opening of a new conversation in place of one that the server has lost.
type renewal struct {
	done chan struct{} // closed at the end; what follows is set then
	next *conversation
	err  error
}

// renew returns the conversation that follows a lost one. However many requests found out that it is lost, one new conversation
// is opened, and all of them get it, or its failure. It goes on where the caller leaves.
func (s *Session) renew(ctx context.Context, gone *conversation) (*conversation, error) {
	s.mu.Lock()
	if s.now != gone {
		defer s.mu.Unlock()
		return s.now, nil
	}
	if s.closed {
		s.mu.Unlock()
		return nil, errClosed(PhaseInitialize)
	}
	r := s.renewal
	if r == nil {
		r = &renewal{done: make(chan struct{})}
		s.renewal = r
		safe.GoIn(&s.tasks, safe.Upstream, func() { s.replace(context.WithoutCancel(ctx), gone, r) })
	}
	s.mu.Unlock()
	select {
	case <-r.done:
		return r.next, r.err
	case <-ctx.Done():
		return nil, explain(ctx, PhaseInitialize, ctx.Err())
	}
}

// replace opens the conversation that follows gone.
func (s *Session) replace(ctx context.Context, gone *conversation, r *renewal) {
	ctx, cancel := context.WithTimeout(ctx, s.target.budget())
	defer cancel()
	defer context.AfterFunc(s.life, cancel)()
	r.err = safe.Try(safe.Upstream, func() (err error) { r.next, err = s.open(ctx); return err })()
	s.mu.Lock()
	if r.err == nil {
		s.now = r.next
	}
	s.renewal = nil
	s.mu.Unlock()
	close(r.done)
	if r.err == nil {
		gone.retire(s.life)
	}
}

// panicked is the failure of requests whose reply a panic of ours has lost.
func panicked(phase Phase) *Error {
	return &Error{Phase: phase, Reason: ReasonUnreachable, Detail: "the conversation was ended by a fault of Patchbay"}
}

// readerPanicked is panicked for the goroutine that reads all replies. known: a version was agreed, and the next request opens another
// conversation.
func readerPanicked(known bool) *Error {
	failure := panicked(PhaseInitialize)
	if known {
		failure.Err = errSessionLost
	}
	return failure
}

func errClosed(phase Phase) *Error {
	return &Error{Phase: phase, Reason: ReasonUnreachable, Detail: "the session is closed"}
}
