package mcp

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func TestExchangeContext_EndsLikeStandardContext(t *testing.T) {
	t.Parallel()
	made := map[string]func(ctx context.Context, at time.Time) (context.Context, func()){
		"ours": func(ctx context.Context, at time.Time) (context.Context, func()) {
			c, timed := &connection{}, newExchangeContext(ctx, at)
			if err := c.beginExchange(timed, PhaseCall); err != nil {
				t.Error(err)
			}
			return timed, timed.cancel
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

func TestDeadlineContext_BoundsExchanges(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		ctx := deadlineContext{t.Context(), began.Add(time.Second)}
		timed := newExchangeContext(ctx, began.Add(time.Hour))
		defer timed.cancel()
		if err := new(connection).beginExchange(timed, PhaseCall); err != nil {
			t.Fatal(err)
		}
		<-timed.Done()
		if time.Since(began) != time.Second || !errors.Is(ctx.Err(), context.DeadlineExceeded) || !errors.Is(timed.Err(), context.DeadlineExceeded) {
			t.Errorf("after %v: %v, %v", time.Since(began), ctx.Err(), timed.Err())
		}
	})
}

func TestDeadlineTimer_EndsEachExchange(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, began := &connection{}, time.Now()
		begin := func(timeout time.Duration) *exchangeContext {
			timed := newExchangeContext(t.Context(), time.Now().Add(timeout))
			if err := c.beginExchange(timed, PhaseCall); err != nil {
				t.Error(err)
			}
			return timed
		}
		var all sync.WaitGroup
		for _, timeout := range []time.Duration{30 * time.Second, 10 * time.Second, time.Minute, 10 * time.Second, -time.Second} {
			timed := begin(timeout)
			all.Go(func() {
				defer c.endExchange(timed)
				<-timed.Done()
				if took := time.Since(began); took != max(timeout, 0) || !errors.Is(timed.Err(), context.DeadlineExceeded) {
					t.Errorf("one of %v ended after %v: %v", timeout, took, timed.Err())
				}
			})
		}
		short := begin(5 * time.Second)
		short.cancel()
		c.endExchange(short)
		all.Wait()
		if len(c.deadlines.exchanges) != 0 || !c.deadlines.firesAt.IsZero() {
			t.Errorf("after the last one: %+v", c.deadlines)
		}
		late := begin(time.Second)
		<-late.Done()
		c.endExchange(late)
		if took := time.Since(began); took != time.Minute+time.Second {
			t.Errorf("one that begins after the others ended after %v", took)
		}
	})
}

func TestDeadlineTimer_StopsWithConnection(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		life, die := context.WithCancel(t.Context())
		c := &connection{ctx: life, cancel: die, transport: &httpTransport{}, timeout: time.Minute}
		timed := newExchangeContext(t.Context(), time.Now().Add(time.Minute))
		if err := c.beginExchange(timed, PhaseCall); err != nil {
			t.Fatal(err)
		}
		c.close(t.Context())
		if c.deadlines.timer.Stop() {
			t.Error("the clock still runs")
		}
		if !errors.Is(timed.Err(), context.Canceled) {
			t.Errorf("what was under way ended: %v", timed.Err())
		}
		c.onDeadline() // a late timer
		if c.deadlines.timer.Stop() {
			t.Error("the clock was set again")
		}
	})
}
