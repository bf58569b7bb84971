package mcp

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func TestATimedContextEndsAsOneOfPackageContextDoes(t *testing.T) {
	t.Parallel()
	made := map[string]func(ctx context.Context, at time.Time) (context.Context, func()){
		"ours": func(ctx context.Context, at time.Time) (context.Context, func()) {
			c := newTimed(ctx, at)
			return c, c.end
		},
		"package context's": func(ctx context.Context, at time.Time) (context.Context, func()) {
			return context.WithDeadline(ctx, at)
		},
	}
	for name, end := range map[string]struct {
		how  func(cancelParent, end func())
		want error
		took time.Duration
	}{
		"by its owner":    {func(_, end func()) { end() }, context.Canceled, 0},
		"by its caller":   {func(cancelParent, _ func()) { cancelParent() }, context.Canceled, 0},
		"by its time":     {func(_, _ func()) {}, context.DeadlineExceeded, time.Minute},
		"and only once":   {func(cancelParent, end func()) { end(); cancelParent() }, context.Canceled, 0},
		"also when asked": {func(_, end func()) { time.Sleep(time.Second); end() }, context.Canceled, time.Second},
	} {
		for kind, make := range made {
			t.Run(name+", "+kind, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					type key struct{}
					parent, cancelParent := context.WithCancel(context.WithValue(t.Context(), key{}, "value"))
					defer cancelParent()
					began := time.Now()
					ctx, stop := make(parent, began.Add(time.Minute))
					defer stop()
					child, cancelChild := context.WithCancel(ctx)
					defer cancelChild()
					var ran atomic.Int32
					for range 3 {
						context.AfterFunc(ctx, func() { ran.Add(1) })
					}
					taken := context.AfterFunc(ctx, func() { t.Error("what was taken back is done all the same") })
					if !taken() || taken() {
						t.Error("it was not taken back once")
					}
					if ctx.Err() != nil || ctx.Value(key{}) != "value" {
						t.Errorf("before its end: %v, %v", ctx.Err(), ctx.Value(key{}))
					}
					if at, ok := ctx.Deadline(); !ok || !at.Equal(began.Add(time.Minute)) {
						t.Errorf("deadline %v", at)
					}

					end.how(cancelParent, stop)
					<-ctx.Done()
					<-child.Done()
					synctest.Wait()
					if took := time.Since(began); took != end.took || !errors.Is(ctx.Err(), end.want) || !errors.Is(context.Cause(ctx), end.want) {
						t.Errorf("ended after %v: %v, because of %v", took, ctx.Err(), context.Cause(ctx))
					}
					late := false
					if stop := context.AfterFunc(ctx, func() { late = true }); stop() {
						t.Error("what begins after the end can be taken back")
					}
					synctest.Wait()
					if ran.Load() != 3 || !late {
						t.Errorf("%d of 3 were done, late %v", ran.Load(), late)
					}
				})
			})
		}
	}
}

func TestADeadlineThatNoClockWatchesBoundsWhatIsDoneInIt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		ctx := until{t.Context(), began.Add(time.Second)}
		timed := newTimed(ctx, began.Add(time.Hour))
		defer timed.end()
		<-timed.Done()
		if time.Since(began) != time.Second || !errors.Is(ctx.Err(), context.DeadlineExceeded) || !errors.Is(timed.Err(), context.DeadlineExceeded) {
			t.Errorf("after %v: %v, %v", time.Since(began), ctx.Err(), timed.Err())
		}
	})
}
