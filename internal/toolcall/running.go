package toolcall

import (
	"context"
	"errors"
	"sync"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/fasthttp/contexts"
	"patchbay/internal/safe"
)

// runningCalls is the registry of this process's calls and of the work that Stop waits for.
type runningCalls struct {
	baseCtx    context.Context // ends when stop cuts off the remaining work
	cancelBase context.CancelFunc
	background sync.WaitGroup // work besides calls

	mu      sync.Mutex // guards the fields below
	stopped bool
	calls   sync.WaitGroup // in flight; Add only under mu and while not stopped
	byID    map[connectors.ToolCallID]*callContext
}

func newRunningCalls() *runningCalls {
	r := &runningCalls{byID: map[connectors.ToolCallID]*callContext{}}
	r.baseCtx, r.cancelBase = context.WithCancel(context.Background())
	return r
}

// callContext is the context of a running call. It holds no other part of the call, so that background work may
// keep it.
type callContext struct {
	contexts.Context
	running *runningCalls
	id      connectors.ToolCallID
}

// beginCall registers a call, which can then be cancelled by id. Each beginCall needs an endCall.
func (r *runningCalls) beginCall(ctx context.Context, id connectors.ToolCallID) (*callContext, error) {
	s := &callContext{running: r, id: id}
	s.Init(ctx)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.stopped {
		s.Cancel(nil)
		return nil, stoppingRefusal()
	}
	r.calls.Add(1)
	r.byID[id] = s
	return s, nil
}

func (s *callContext) endCall() {
	defer s.running.calls.Done()
	s.Cancel(nil)
	s.running.mu.Lock()
	defer s.running.mu.Unlock()
	delete(s.running.byID, s.id)
}

func (r *runningCalls) isStopped() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.stopped
}

func (r *runningCalls) isRunning(id connectors.ToolCallID) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.byID[id] != nil
}

// cancelCall cancels a call of this process, and reports whether there was one.
func (r *runningCalls) cancelCall(id connectors.ToolCallID, reason error) bool {
	r.mu.Lock()
	call := r.byID[id]
	r.mu.Unlock()
	if call != nil {
		call.Cancel(reason)
	}
	return call != nil
}

func (r *runningCalls) waitForEnd(ctx context.Context, id connectors.ToolCallID) {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		if !r.isRunning(id) {
			return
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

func (r *runningCalls) abortCalls() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, call := range r.byID {
		call.Cancel(errStopped)
	}
}

// cancelBoxes are the mailboxes that can cancel a call of this process.
func (r *runningCalls) cancelBoxes() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	boxes := make([]string, 0, len(r.byID))
	for id := range r.byID {
		boxes = append(boxes, cancelMailboxPrefix+id.String())
	}
	return boxes
}

// runBackground runs do in the background, which stop waits for. It does nothing after stop.
func (r *runningCalls) runBackground(do func(ctx context.Context)) (started bool) {
	return r.startTask(safe.Call, do)
}

// startTask is runBackground with another kind of panic.
func (r *runningCalls) startTask(kind safe.Kind, do func(ctx context.Context)) (started bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.stopped {
		safe.GoIn(&r.background, kind, func() { do(r.baseCtx) })
	}
	return !r.stopped
}

// startLoop runs do after each interval until stop, after a panic too.
func (r *runningCalls) startLoop(name string, interval time.Duration, do func(ctx context.Context)) {
	r.startTask(safe.Background, func(ctx context.Context) {
		safe.RunLoop(ctx, name, func(ctx context.Context) {
			tick := time.NewTicker(interval)
			defer tick.Stop()
			for {
				select {
				case <-tick.C:
					do(ctx)
				case <-ctx.Done():
					return
				}
			}
		})
	})
}

// refuseCalls refuses new calls and background work.
func (r *runningCalls) refuseCalls() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stopped = true
}

// waitForCalls waits for running calls until ctx is done, then aborts them. It returns when all calls and background
// work have ended.
func (r *runningCalls) waitForCalls(ctx context.Context) {
	done := make(chan struct{})
	safe.Go(safe.Task, func() {
		defer close(done)
		r.calls.Wait()
	})
	select {
	case <-done:
	case <-ctx.Done():
		r.abortCalls()
		<-done
	}
	r.cancelBase()
	r.background.Wait()
}

func stoppingRefusal() *RefusalError {
	return &RefusalError{Code: CodeUnavailable, Sentence: "Patchbay is stopping. Try again in a moment.", RetryAfter: time.Second}
}

var (
	errCancelled = errors.New("cancelled by a person")
	errStopped   = errors.New("the process stops")
)
