package toolcall

import (
	"context"
	"errors"
	"sync"
	"time"

	"patchbay/internal/safe"
)

// errTimeout is the cause of a context that a watchdog ended.
var errTimeout = errors.New("no answer in time")

// watchdog ends a context unless it is reset in time.
type watchdog struct {
	timeout time.Duration
	cancel  context.CancelCauseFunc

	mu     sync.Mutex
	timer  *time.Timer // guarded by mu
	paused int         // guarded by mu
}

// newWatchdog returns the context and its watchdog.
func newWatchdog(ctx context.Context, timeout time.Duration) (context.Context, *watchdog) {
	w := &watchdog{timeout: timeout}
	ctx, w.cancel = context.WithCancelCause(ctx)
	w.timer = time.AfterFunc(timeout, func() {
		defer safe.Recover(safe.Timer)
		w.cancel(errTimeout)
	})
	return ctx, w
}

func (w *watchdog) resetTimer() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.paused == 0 {
		w.timer.Reset(w.timeout)
	}
}

// pause stops the timer until resume.
func (w *watchdog) pause() (resume func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.paused++
	w.timer.Stop()
	return func() {
		w.mu.Lock()
		w.paused--
		w.mu.Unlock()
		w.resetTimer()
	}
}

// stop ends the context.
func (w *watchdog) stop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.paused++ // keeps the timer stopped
	w.timer.Stop()
	w.cancel(nil)
}
