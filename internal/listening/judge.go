package listening

import (
	"errors"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/mcp"
	"patchbay/internal/store"
)

const (
	longestBackoff = 10 * time.Minute
	mostEnds       = 8              // in a row, as soon as the stream was open
	offForNow      = 24 * time.Hour // where nobody is to blame
	crowdedFor     = 2 * time.Minute
)

// errCrowded says that there is no room at the server's host.
var errCrowded = errors.New("too many streams to this host")

// judge tells how to go on after a stream; ok is false where it is not ours to say, or is forgotten anyway.
//
//	we ended it, for it was stale        at once
//	the server misbehaved                off, until a person says otherwise
//	no credential that is taken          off, until one is stored, or for a day
//	there is no such stream              off, for a day
//	it lived for a while                 in a second or so
//	it ended as soon as it was open      later and later; the eighth time in a row it misbehaves
//	anything else                        later and later
func (h *hold) judge(err error) (end store.StreamEnd, ok bool) {
	h.mu.Lock()
	by := h.cause
	h.mu.Unlock()
	switch {
	case by.kind == endLost, h.k.life.Err() != nil: // Stop frees all at once
		return end, false
	case by.kind == endOff:
		return store.StreamEnd{State: connectors.ListenIsOff, Reason: by.reason}, true
	case by.kind == endStale:
		return again(0, connectors.ListenNoReason, 0), true
	case fault.Is(err, fault.NotFound):
		return end, false
	}
	return h.judgeServer(err), true
}

func (h *hold) judgeServer(err error) store.StreamEnd {
	e, _ := errors.AsType[*mcp.Error](err)
	lived := time.Duration(0)
	if at := h.opened.Load(); at != 0 {
		lived = time.Since(time.UnixMilli(at))
	}
	switch {
	case errors.Is(err, errCrowded):
		return crowded()
	case e == nil && fault.Is(err, fault.Conflict), e != nil && e.Reason == mcp.ReasonUnauthorized:
		return offFor(connectors.ListenUnauthorized)
	case e != nil && e.Phase == mcp.PhaseListen && !e.Retryable && !h.isOpen():
		return offFor(connectors.ListenNoStream)
	case e != nil && e.Reason == mcp.ReasonTooLarge && lived < time.Hour:
		return store.StreamEnd{State: connectors.ListenIsOff, Reason: connectors.ListenFlood}
	case lived >= h.k.o.Steady:
		return again(spread(time.Second), connectors.ListenNoReason, 0)
	case h.isOpen():
		return h.endedAtOnce()
	}
	failures := h.inARow(connectors.ListenUnreachable)
	wait := h.backoff(failures)
	if e != nil {
		wait = max(wait, e.RetryAfter)
	}
	return again(wait, connectors.ListenUnreachable, failures)
}

func (h *hold) endedAtOnce() store.StreamEnd {
	failures := h.inARow(connectors.ListenEnds)
	if failures >= mostEnds {
		return store.StreamEnd{State: connectors.ListenIsOff, Reason: connectors.ListenEnds, Failures: failures}
	}
	return again(h.backoff(failures), connectors.ListenEnds, failures)
}

// inARow is how often it failed for this reason, this time included.
func (h *hold) inARow(reason connectors.ListenReason) int {
	if h.was.Reason != reason {
		return 1
	}
	return h.was.Failures + 1
}

func (h *hold) backoff(failures int) time.Duration {
	return spread(min(h.k.o.Backoff<<min(failures-1, 20), longestBackoff))
}

func again(wait time.Duration, reason connectors.ListenReason, failures int) store.StreamEnd {
	return store.StreamEnd{State: connectors.ListenWaiting, Reason: reason, Again: &wait, Failures: failures}
}

func offFor(reason connectors.ListenReason) store.StreamEnd {
	wait := spread(offForNow)
	return store.StreamEnd{State: connectors.ListenIsOff, Reason: reason, Again: &wait}
}

func crowded() store.StreamEnd { return again(spread(crowdedFor), connectors.ListenCrowded, 0) }
