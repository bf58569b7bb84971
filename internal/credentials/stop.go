package credentials

import (
	"context"
	"errors"
	"sync"

	"patchbay/internal/safe"
)

var errStopping = errors.New("the process stops")

// Stop begins no renewal any more, and waits until ctx is done for those under way: a process that leaves in the middle of one
// takes the only good token with it. Call it when the doors and the workers have stopped.
func (r *Resolver) Stop(ctx context.Context) {
	ended := make(chan struct{})
	safe.Go(safe.Task, func() {
		defer close(ended)
		r.crew.close()
	})
	select {
	case <-ended:
	case <-ctx.Done():
	}
}

// crew counts who is at work. The zero value works.
type crew struct {
	mu     sync.Mutex
	closed bool           // guarded by mu: nobody comes any more
	work   sync.WaitGroup // Add only under mu and while not closed
}

func (c *crew) enter() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return false
	}
	c.work.Add(1)
	return true
}

func (c *crew) leave() { c.work.Done() }

// close waits for those at work.
func (c *crew) close() {
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
	c.work.Wait()
}
