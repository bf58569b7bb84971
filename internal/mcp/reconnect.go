package mcp

import (
	"context"

	"patchbay/internal/safe"
)

// reconnectAttempt is the opening of a connection that replaces a lost one.
type reconnectAttempt struct {
	done chan struct{} // closed at the end, after the fields below are set
	next *connection
	err  error
}

// waitForReplacement returns the connection that replaces a lost one. Concurrent requests share one opening, or
// its error. It continues if the caller's ctx ends.
func (s *Session) waitForReplacement(ctx context.Context, lost *connection) (*connection, error) {
	r, err := s.joinReconnect(ctx, lost)
	if err != nil {
		return nil, err
	}
	select {
	case <-r.done:
		return r.next, r.err
	case <-ctx.Done():
		return nil, classifyError(ctx, PhaseInitialize, ctx.Err())
	}
}

// joinReconnect returns the reconnect of a lost connection. It starts one if none runs.
func (s *Session) joinReconnect(ctx context.Context, lost *connection) (*reconnectAttempt, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.conn != lost { // replaced before
		r := &reconnectAttempt{done: make(chan struct{}), next: s.conn}
		close(r.done)
		return r, nil
	}
	if s.isClosed {
		return nil, newClosedError(PhaseInitialize)
	}
	if s.reconnect == nil {
		r := &reconnectAttempt{done: make(chan struct{})}
		s.reconnect = r
		safe.GoIn(&s.background, safe.Upstream, func() { s.replaceConnection(context.WithoutCancel(ctx), lost, r) })
	}
	return s.reconnect, nil
}

func (s *Session) replaceConnection(ctx context.Context, lost *connection, r *reconnectAttempt) {
	ctx, cancel := context.WithTimeout(ctx, s.target.timeBudget())
	defer cancel()
	defer context.AfterFunc(s.ctx, cancel)()
	r.err = safe.Try(safe.Upstream, func() (err error) { r.next, err = s.openConnection(ctx); return err })()
	s.mu.Lock()
	if r.err == nil {
		s.conn = r.next
	}
	s.reconnect = nil
	s.mu.Unlock()
	close(r.done)
	if r.err == nil {
		lost.closeWhenIdle(s.ctx)
	}
}

// newPanicError is the error of requests that lost their reply to a panic of ours.
func newPanicError(phase Phase) *Error {
	return &Error{Phase: phase, Reason: ReasonUnreachable, Detail: "the session ended because of an error in Patchbay"}
}

// newReaderPanicError is newPanicError for the goroutine that reads all replies. known: a version was
// negotiated, so the next request can reconnect.
func newReaderPanicError(known bool) *Error {
	failure := newPanicError(PhaseInitialize)
	if known {
		failure.Err = errSessionLost
	}
	return failure
}

func newClosedError(phase Phase) *Error {
	return &Error{Phase: phase, Reason: ReasonUnreachable, Detail: "the session is closed"}
}
