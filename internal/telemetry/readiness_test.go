package telemetry

import (
	"context"
	"testing"
	"time"

	"patchbay/internal/safe"
)

// panickedLoop is a loop of this process that panicked, and waits or has ended.
func panickedLoop(t *testing.T, name string, waits bool) RestartedLoop {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	started, over := make(chan struct{}, 1), make(chan struct{})
	go func() {
		defer close(over)
		safe.RunLoop(ctx, name, func(context.Context) {
			started <- struct{}{}
			if !waits {
				cancel()
			}
			panic("of a test")
		})
	}()
	<-started
	if !waits {
		<-over
	}
	t.Cleanup(func() { cancel(); <-over })
	for end := time.Now().Add(time.Minute); time.Now().Before(end); {
		for _, l := range BrokenLoops(time.Now()) {
			if l.Name == name && l.Waiting == waits {
				return l
			}
		}
	}
	t.Fatal("the loop is not named")
	return RestartedLoop{}
}

func TestReadyz_NamesLoopsThatPanicked(t *testing.T) {
	t.Parallel()
	waits, runs := panickedLoop(t, "a loop that waits", true), panickedLoop(t, "a loop that runs again", false)
	if waits.Panics != 1 || runs.Panics != 1 || time.Since(runs.Last) > time.Minute {
		t.Errorf("loops = %+v, %+v", waits, runs)
	}
	later := BrokenLoops(time.Now().Add(restartWindow + time.Minute))
	for _, l := range later {
		if l.Name == runs.Name {
			t.Errorf("%+v is named for too long", l)
		}
	}
}
