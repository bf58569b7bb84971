package toolcall

import (
	"context"
	"errors"
	"sync"
	"time"

	"patchbay/internal/safe"
)

// errTimeout is why a context ends whose server said nothing for too long.
var errTimeout = errors.New("no answer in time")

// watchdog ends a context when nothing was heard for a while.
type watchdog struct {
	timeout time.Duration
	cancel  context.CancelCauseFunc

	mu     sync.Mutex
	timer  *time.Timer // guarded by mu
	paused int         // guarded by mu
}

// watch is a context that a watchdog ends.
func watch(ctx context.Context, timeout time.Duration) (context.Context, *watchdog) {
	w := &watchdog{timeout: timeout}
	ctx, w.cancel = context.WithCancelCause(ctx)
	w.timer = time.AfterFunc(timeout, func() {
		defer safe.Recover(safe.Timer)
		w.cancel(errTimeout)
	})
	return ctx, w
}

// heard gives the whole time again.
func (w *watchdog) heard() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.paused == 0 {
		w.timer.Reset(w.timeout)
	}
}

// pause stops the time until resume is called.
func (w *watchdog) pause() (resume func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.paused++
	w.timer.Stop()
	return func() {
		w.mu.Lock()
		w.paused--
		w.mu.Unlock()
		w.heard()
	}
}

// stop ends the context.
func (w *watchdog) stop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.paused++ // no timer is set any more
	w.timer.Stop()
	w.cancel(nil)
}
