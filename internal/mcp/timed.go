package mcp

import (
	"context"
	"time"

	"patchbay/internal/lifetime"
)

// until is a context with a deadline that no clock watches: who waits in it sets a clock of its own, by [newTimed].
type until struct {
	context.Context
	at time.Time
}

// Deadline is the earlier one of ours and of the context's.
func (u until) Deadline() (time.Time, bool) {
	if of, ok := u.Context.Deadline(); ok && of.Before(u.at) {
		return of, true
	}
	return u.at, true
}

// Err tells whether the time is up.
func (u until) Err() error {
	if err := u.Context.Err(); err != nil || time.Now().Before(u.at) {
		return err
	}
	return context.DeadlineExceeded
}

// timedContext is a context for one exchange. It does what context.WithDeadline does, and costs less: each exchange has one, and most are
// short.
type timedContext struct {
	lifetime.Context // a part of the caller's
	at               time.Time
}

// newTimed is ctx, which ends by end or, while it is one of a conversation's flights, at a time or at ctx's own deadline. end must be
// called.
func newTimed(ctx context.Context, at time.Time) *timedContext {
	if of, ok := ctx.Deadline(); ok && of.Before(at) {
		at = of
	}
	b := &timedContext{at: at}
	b.Begin(ctx)
	return b
}

// end ends it, as cancelled.
func (b *timedContext) end() { b.End(nil) }

// Deadline is when it ends.
func (b *timedContext) Deadline() (time.Time, bool) { return b.at, true }
