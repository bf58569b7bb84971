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
func (c deadlineContext) Deadline() (time.Time, bool) {
	if parent, ok := c.Context.Deadline(); ok && parent.Before(c.deadline) {
		return parent, true
	}
	return c.deadline, true
}

// Err reports an expired deadline.
func (c deadlineContext) Err() error {
	if err := c.Context.Err(); err != nil || time.Now().Before(c.deadline) {
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
	b.Init(ctx)
	return b
}

func (c *exchangeContext) cancel() { c.Cancel(nil) }

// Deadline returns when the context expires.
func (c *exchangeContext) Deadline() (time.Time, bool) { return c.deadline, true }
