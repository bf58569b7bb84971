package credentials

import (
	"context"
	"errors"
	"sync"

	"patchbay/internal/safe"
)

var errStopping = errors.New("the process stops")

// Stop starts no refresh any more, and waits for running ones until ctx is done: an aborted refresh may lose
// the only valid token. Call it after the servers and workers have stopped.
func (r *Resolver) Stop(ctx context.Context) {
	done := make(chan struct{})
	safe.Go(safe.Task, func() {
		defer close(done)
		r.refreshGroup.close()
	})
	select {
	case <-done:
	case <-ctx.Done():
	}
}

// taskGroup counts running refreshes. The zero value works.
type taskGroup struct {
	mu     sync.Mutex
	closed bool           // guarded by mu
	work   sync.WaitGroup // Add only under mu and while not closed
}

func (g *taskGroup) start() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return false
	}
	g.work.Add(1)
	return true
}

func (g *taskGroup) finish() { g.work.Done() }

// close waits for the running tasks.
func (g *taskGroup) close() {
	g.mu.Lock()
	g.closed = true
	g.mu.Unlock()
	g.work.Wait()
}
