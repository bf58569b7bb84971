package contexts

import (
	"context"
	"errors"
	"sync"

	"patchbay/internal/safe"
)

// Context ends when its owner calls End, or with its parent. Begin has to be called first, once, and End
// afterwards. A Context must not be copied.
type Context struct {
	context.Context             // the parent
	node            child       // in the parent's children, if the parent is a *Context
	detach          func() bool // stops AfterFunc on another kind of parent; nil: none is needed

	mu       sync.Mutex // guards the fields below
	err      error
	done     chan struct{} // nil: Done was not called
	children *child        // one of a ring; nil: there is none
}

// child ends with its parent: a context, or a function to call. The parent's mu guards it.
type child struct {
	next, prev *child // nil: it is in no ring
	parent     *Context
	ctx        *Context // nil: do is called in its own goroutine
	do         func()
}

// Init makes c a child of parent.
func (c *Context) Init(parent context.Context) {
	c.Context = parent
	if outer, ok := parent.(interface{ unwrap() *Context }); ok {
		c.node.ctx = c
		if err := outer.unwrap().addChild(&c.node); err != nil {
			c.cancel(err)
		}
		return
	}
	if parent.Done() == nil {
		return
	}
	cancelWithParent := func() {
		defer safe.Recover(safe.Timer)
		c.cancel(withCause(parent.Err(), context.Cause(parent)))
	}
	if parent.Err() != nil {
		cancelWithParent()
		return
	}
	c.detach = context.AfterFunc(parent, cancelWithParent)
}

// unwrap returns c from a struct that embeds it.
func (c *Context) unwrap() *Context { return c }

// Cancel ends c. cause is the result of [Cause]; nil: context.Canceled. Only the first End counts.
func (c *Context) Cancel(cause error) {
	c.cancel(withCause(context.Canceled, cause))
	switch {
	case c.node.parent != nil:
		c.node.parent.removeChild(&c.node)
	case c.detach != nil:
		c.detach()
	}
}

// CancelDeadline ends c with [context.DeadlineExceeded]. It is for callers with their own timer, who still have to call
// End.
func (c *Context) CancelDeadline() { c.cancel(context.DeadlineExceeded) }

// cancel ends c and its children. It locks parents before children; nothing locks in the other order.
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
	for p := c.children; p != nil; p = c.children {
		c.unlink(p)
		if p.ctx != nil {
			p.ctx.cancel(err)
		} else {
			safe.Go(safe.Timer, p.do)
		}
	}
}

// addChild makes p end with c. It returns c's error if c has ended.
func (c *Context) addChild(p *child) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		return c.err
	}
	p.parent, p.next, p.prev = c, p, p
	if first := c.children; first != nil {
		p.next, p.prev = first, first.prev
		p.prev.next, p.next.prev = p, p
	}
	c.children = p
	return nil
}

// removeChild removes p, and reports whether it was still a child.
func (c *Context) removeChild(p *child) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.unlink(p)
}

// unlink needs c.mu.
func (c *Context) unlink(p *child) bool {
	if p.next == nil {
		return false
	}
	if c.children == p {
		c.children = p.next
	}
	if c.children == p { // it was the last one
		c.children = nil
	}
	p.prev.next, p.next.prev = p.next, p.prev
	p.next, p.prev = nil, nil
	return true
}

// Done is closed when c ends.
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

// Err is [context.Canceled], the parent's error, or an error that wraps one of them and the cause.
func (c *Context) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

// AfterFunc calls do in its own goroutine when c ends. stop prevents that, and reports whether it was in time.
// Package context uses this method.
func (c *Context) AfterFunc(do func()) (stop func() bool) {
	p := &child{do: do}
	if c.addChild(p) != nil {
		safe.Go(safe.Timer, do)
	}
	return func() bool { return c.removeChild(p) }
}

// Cause returns why a Context or a child of one ended; nil: it has not. The owner's cause stays, even if the
// parent ends later.
func Cause(ctx context.Context) error {
	if e, ok := errors.AsType[*causeError](ctx.Err()); ok {
		return e.cause
	}
	return context.Cause(ctx)
}

// causeError is the error of a context that ended with a cause.
type causeError struct{ err, cause error }

func withCause(err, cause error) error {
	if cause == nil || cause == err { //nolint:errorlint // the same one says no more
		return err
	}
	if e, ok := cause.(*causeError); ok { //nolint:errorlint // it is ours, and at the top
		return e
	}
	return &causeError{err, cause}
}

// Error is the text of err.
func (e *causeError) Error() string { return e.err.Error() }

// Unwrap returns err and the cause.
func (e *causeError) Unwrap() []error { return []error{e.err, e.cause} }
