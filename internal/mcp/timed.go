package mcp

import (
	"context"
	"sync"
	"time"
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

// timedContext is a context for one exchange. It does what context.WithDeadline does, and costs half: each exchange has one, and most are short.
// Its AfterFunc is known to package context and to the HTTP client, which need no channel then.
type timedContext struct {
	context.Context // the caller's
	at              time.Time
	timer           *time.Timer
	detach          func() bool

	mu    sync.Mutex // guards what follows
	err   error
	done  chan struct{} // nil: nobody has asked
	hooks map[*hook]struct{}
	first *hook // the only one, mostly
}

type hook struct{ do func() }

// newTimed is ctx, which ends at a time, at ctx's own deadline, or by end, whichever comes first. end must be called.
func newTimed(ctx context.Context, at time.Time) *timedContext {
	if of, ok := ctx.Deadline(); ok && of.Before(at) {
		at = of
	}
	b := &timedContext{Context: ctx, at: at}
	b.mu.Lock() // a timer may strike before it is known
	defer b.mu.Unlock()
	b.timer = time.AfterFunc(time.Until(at), func() { b.cancel(context.DeadlineExceeded) })
	if ctx.Done() != nil {
		b.detach = context.AfterFunc(ctx, func() { b.cancel(ctx.Err()) })
	}
	return b
}

// end ends it, as cancelled.
func (b *timedContext) end() { b.cancel(context.Canceled) }

func (b *timedContext) cancel(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.err != nil {
		return
	}
	b.err = err
	b.timer.Stop()
	if b.detach != nil {
		b.detach()
	}
	if b.done != nil {
		close(b.done)
	}
	if b.first != nil {
		go b.first.do()
	}
	for h := range b.hooks {
		go h.do()
	}
	b.first, b.hooks = nil, nil
}

// Deadline is when it ends.
func (b *timedContext) Deadline() (time.Time, bool) { return b.at, true }

// Done is closed at its end.
func (b *timedContext) Done() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.done == nil {
		b.done = make(chan struct{})
		if b.err != nil {
			close(b.done)
		}
	}
	return b.done
}

// Err is why it ended.
func (b *timedContext) Err() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.err
}

// AfterFunc has something done at its end, in a goroutine of its own. stop takes that back, and tells whether it was in time.
func (b *timedContext) AfterFunc(do func()) (stop func() bool) {
	h := &hook{do}
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.err != nil:
		go do()
		return func() bool { return false }
	case b.first == nil:
		b.first = h
	default:
		if b.hooks == nil {
			b.hooks = make(map[*hook]struct{})
		}
		b.hooks[h] = struct{}{}
	}
	return func() bool { return b.forget(h) }
}

func (b *timedContext) forget(h *hook) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.first == h {
		b.first = nil
		return true
	}
	_, there := b.hooks[h]
	delete(b.hooks, h)
	return there
}
