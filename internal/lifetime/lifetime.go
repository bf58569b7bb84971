package lifetime

import (
	"context"
	"errors"
	"sync"

	"patchbay/internal/safe"
)

// Context ends when its owner ends it, or with the context that it is a part of. It is to be begun before anything else, once, and ended.
// It must not be copied.
type Context struct {
	context.Context             // that it is a part of
	own             part        // its place among the parts of that, where that is one of ours
	detach          func() bool // leaves that, where it is none; nil: it is one of ours, or never ends

	mu    sync.Mutex // guards what follows
	err   error
	done  chan struct{} // nil: nobody has asked
	parts *part         // one of the ring of those that end with it; nil: none does
}

// part is something that ends with a context: another one, or what is to be done then. The context's mu guards it.
type part struct {
	next, prev *part // nil: it is in no ring
	of         *Context
	end        *Context // nil: do is to be called, in a goroutine of its own
	do         func()
}

// Begin begins it as a part of a context.
func (c *Context) Begin(of context.Context) {
	c.Context = of
	if of, ours := of.(interface{ itself() *Context }); ours {
		c.own.end = c
		if err := of.itself().join(&c.own); err != nil {
			c.cancel(err)
		}
		return
	}
	if of.Done() == nil {
		return
	}
	ends := func() {
		defer safe.Recover(safe.Timer)
		c.cancel(reason(of.Err(), context.Cause(of)))
	}
	if of.Err() != nil {
		ends()
		return
	}
	c.detach = context.AfterFunc(of, ends)
}

// itself finds it in what it stands inside of.
func (c *Context) itself() *Context { return c }

// End ends it. because is what [Cause] tells; nil: no more than that it was cancelled. Of several times the first counts.
func (c *Context) End(because error) {
	c.cancel(reason(context.Canceled, because))
	switch {
	case c.own.of != nil:
		c.own.of.leave(&c.own)
	case c.detach != nil:
		c.detach()
	}
}

// Expire ends it since its time is up, for who keeps the time: it tells [context.DeadlineExceeded]. It is to be ended all the same.
func (c *Context) Expire() { c.cancel(context.DeadlineExceeded) }

// cancel ends it and its parts. The ones above hold their mu meanwhile, and nobody holds one of below who takes one of above.
func (c *Context) cancel(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		return
	}
	c.err = err
	if c.done != nil {
		close(c.done)
	}
	for p := c.parts; p != nil; p = c.parts {
		c.unlink(p)
		if p.end != nil {
			p.end.cancel(err)
		} else {
			safe.Go(safe.Timer, p.do)
		}
	}
}

// join has p end with it; an error says that it has ended already.
func (c *Context) join(p *part) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		return c.err
	}
	p.of, p.next, p.prev = c, p, p
	if first := c.parts; first != nil {
		p.next, p.prev = first, first.prev
		p.prev.next, p.next.prev = p, p
	}
	c.parts = p
	return nil
}

// leave takes p back, and tells whether it was in time.
func (c *Context) leave(p *part) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.unlink(p)
}

// unlink needs mu.
func (c *Context) unlink(p *part) bool {
	if p.next == nil {
		return false
	}
	if c.parts == p {
		c.parts = p.next
	}
	if c.parts == p { // it is the last one
		c.parts = nil
	}
	p.prev.next, p.next.prev = p.next, p.prev
	p.next, p.prev = nil, nil
	return true
}

// Done is closed at its end.
func (c *Context) Done() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.done == nil {
		c.done = make(chan struct{})
		if c.err != nil {
			close(c.done)
		}
	}
	return c.done
}

// Err is why it ended: [context.Canceled], what its own context ended with, or an error that is that by [errors.Is], and tells the cause
// by it, too.
func (c *Context) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

// AfterFunc has something done at its end, in a goroutine of its own. stop takes that back, and tells whether it was in time. Package
// context knows of it.
func (c *Context) AfterFunc(do func()) (stop func() bool) {
	p := &part{do: do}
	if c.join(p) != nil {
		safe.Go(safe.Timer, do)
	}
	return func() bool { return c.leave(p) }
}

// Cause is why a context ended that is one of ours, or a part of one; nil: it goes on. Of a context that its owner has ended it tells the
// owner's cause, whatever came after.
func Cause(ctx context.Context) error {
	if e, ok := errors.AsType[*ended](ctx.Err()); ok {
		return e.cause
	}
	return context.Cause(ctx)
}

// ended is the error of a context that ended for a cause.
type ended struct{ err, cause error }

func reason(err, because error) error {
	if because == nil || because == err { //nolint:errorlint // the same one says no more
		return err
	}
	if e, ok := because.(*ended); ok { //nolint:errorlint // it is ours, and at the top
		return e
	}
	return &ended{err, because}
}

// Error is that of the context.
func (e *ended) Error() string { return e.err.Error() }

// Unwrap is the context's error, and the cause.
func (e *ended) Unwrap() []error { return []error{e.err, e.cause} }
