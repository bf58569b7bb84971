package mcp

import (
	"context"
	"time"

	"patchbay/internal/fasthttp/contexts"
)

// deadlineContext reports a deadline but starts no timer; exchanges set their own with [newExchangeContext].
type deadlineContext struct {
	context.Context
	deadline time.Time
}

// Deadline returns the earlier of its own and its parent's deadline.
func (u deadlineContext) Deadline() (time.Time, bool) {
	if parent, ok := u.Context.Deadline(); ok && parent.Before(u.deadline) {
		return parent, true
	}
	return u.deadline, true
}

// Err reports an expired deadline.
func (u deadlineContext) Err() error {
	if err := u.Context.Err(); err != nil || time.Now().Before(u.deadline) {
		return err
	}
	return context.DeadlineExceeded
}

// exchangeContext is the context of one exchange. It replaces context.WithDeadline, because a timer for each of
// many short exchanges costs more.
type exchangeContext struct {
	contexts.Context // a child of the caller's
	deadline         time.Time
}

// newExchangeContext derives a context that ends at deadline, or at ctx's deadline if that is earlier. The
// connection's deadlineTimer expires it. cancel must be called.
func newExchangeContext(ctx context.Context, deadline time.Time) *exchangeContext {
	if parent, ok := ctx.Deadline(); ok && parent.Before(deadline) {
		deadline = parent
	}
	b := &exchangeContext{deadline: deadline}
	b.Begin(ctx)
	return b
}

func (b *exchangeContext) cancel() { b.End(nil) }

// Deadline returns when the context expires.
func (b *exchangeContext) Deadline() (time.Time, bool) { return b.deadline, true }
