package listchanges

import (
	"errors"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/mcp"
	"patchbay/internal/store"
)

const (
	maxBackoff      = 10 * time.Minute
	maxShortStreams = 8              // in a row, ended just after opening
	offTime         = 24 * time.Hour // where the server does nothing wrong
	hostFullRetry   = 2 * time.Minute
)

// errHostFull: the host has its maximum of streams.
var errHostFull = errors.New("too many streams to this host")

// decideEnd returns what follows a stream; ok is false if the row is not ours or is deleted.
//
//	ended here as stale                  reopen at once
//	the server misbehaves                off until a person turns it on
//	no accepted credential               off until one is stored, or for a day
//	no such stream                       off for a day
//	it lived at least Options.Steady     reopen in about a second
//	it ended just after opening          reopen with backoff; the eighth in a row counts as misbehaviour
//	other failures                       reopen with backoff
func (s *serverStream) decideEnd(err error) (end store.StreamEnd, ok bool) {
	s.mu.Lock()
	cause := s.cause
	s.mu.Unlock()
	switch {
	case cause.kind == causeLost, s.manager.lifetime.Err() != nil: // Stop releases all at once
		return end, false
	case cause.kind == causeOff:
		return store.StreamEnd{State: connectors.ListenStateOff, Reason: cause.reason}, true
	case cause.kind == causeStale:
		return retryEnd(0, connectors.ListenNoReason, 0), true
	case fault.Is(err, fault.NotFound):
		return end, false
	}
	return s.decideServerEnd(err), true
}

func (s *serverStream) decideServerEnd(err error) store.StreamEnd {
	e, _ := errors.AsType[*mcp.Error](err)
	lived := time.Duration(0)
	if openedAt := s.openedAt.Load(); openedAt != 0 {
		lived = time.Since(time.UnixMilli(openedAt))
	}
	switch {
	case errors.Is(err, errHostFull):
		return hostFullEnd()
	case e == nil && fault.Is(err, fault.Conflict), e != nil && e.Reason == mcp.ReasonUnauthorized:
		return offForADay(connectors.ListenUnauthorized)
	case e != nil && e.Phase == mcp.PhaseListen && !e.Retryable && !s.isOpen():
		return offForADay(connectors.ListenNoStream)
	case e != nil && e.Reason == mcp.ReasonTooLarge && lived < time.Hour:
		return store.StreamEnd{State: connectors.ListenStateOff, Reason: connectors.ListenFlood}
	case lived >= s.manager.o.MinStreamLife:
		return retryEnd(withJitter(time.Second), connectors.ListenNoReason, 0)
	case s.isOpen():
		return s.decideShortStream()
	}
	failures := s.failuresInRow(connectors.ListenUnreachable)
	delay := s.backoffFor(failures)
	if e != nil {
		delay = max(delay, e.RetryAfter)
	}
	return retryEnd(delay, connectors.ListenUnreachable, failures)
}

func (s *serverStream) decideShortStream() store.StreamEnd {
	failures := s.failuresInRow(connectors.ListenShortLived)
	if failures >= maxShortStreams {
		return store.StreamEnd{State: connectors.ListenStateOff, Reason: connectors.ListenShortLived, Failures: failures}
	}
	return retryEnd(s.backoffFor(failures), connectors.ListenShortLived, failures)
}

// failuresInRow returns the number of failures in a row for this reason, with this one.
func (s *serverStream) failuresInRow(reason connectors.ListenReason) int {
	if s.claim.Reason != reason {
		return 1
	}
	return s.claim.Failures + 1
}

func (s *serverStream) backoffFor(failures int) time.Duration {
	return withJitter(min(s.manager.o.Backoff<<min(failures-1, 20), maxBackoff))
}

func retryEnd(delay time.Duration, reason connectors.ListenReason, failures int) store.StreamEnd {
	return store.StreamEnd{State: connectors.ListenWaiting, Reason: reason, RetryAfter: &delay, Failures: failures}
}

func offForADay(reason connectors.ListenReason) store.StreamEnd {
	delay := withJitter(offTime)
	return store.StreamEnd{State: connectors.ListenStateOff, Reason: reason, RetryAfter: &delay}
}

func hostFullEnd() store.StreamEnd {
	return retryEnd(withJitter(hostFullRetry), connectors.ListenHostLimit, 0)
}
