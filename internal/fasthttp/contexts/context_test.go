package contexts_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"patchbay/internal/fasthttp/contexts"
)

var errCause = errors.New("because")

// implementations make a child context: one of this package, and one of package context to compare with.
var implementations = map[string]func(of context.Context) (context.Context, context.CancelCauseFunc){
	"ours": func(of context.Context) (context.Context, context.CancelCauseFunc) {
		c := new(contexts.Context)
		c.Init(of)
		return c, c.Cancel
	},
	"ours in ours": func(of context.Context) (context.Context, context.CancelCauseFunc) {
		c, outer := new(contexts.Context), new(struct { // embedded in a struct
			contexts.Context
			more string
		})
		outer.Init(of)
		c.Init(outer)
		return c, func(because error) { c.Cancel(because); outer.Cancel(nil) }
	},
	"package context's": context.WithCancelCause,
}

func TestContext_EndsLikePackageContext(t *testing.T) {
	t.Parallel()
	type ending struct {
		how    func(parent context.CancelCauseFunc, own context.CancelCauseFunc)
		caused error
	}
	for name, by := range map[string]ending{
		"its owner":                       {func(_, own context.CancelCauseFunc) { own(nil) }, context.Canceled},
		"its owner, for a cause":          {func(_, own context.CancelCauseFunc) { own(errCause) }, errCause},
		"its own context":                 {func(parent, _ context.CancelCauseFunc) { parent(nil) }, context.Canceled},
		"its own context, for a cause":    {func(parent, _ context.CancelCauseFunc) { parent(errCause) }, errCause},
		"its owner, and then its context": {func(parent, own context.CancelCauseFunc) { own(errCause); parent(errors.New("later")) }, errCause},
		"its owner, twice":                {func(_, own context.CancelCauseFunc) { own(errCause); own(nil) }, errCause},
	} {
		for kind, within := range implementations {
			t.Run(name+", "+kind, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) { testEnd(t, within, by.how, by.caused) })
			})
		}
	}
}

func testEnd(
	t *testing.T, within func(context.Context) (context.Context, context.CancelCauseFunc), end func(parent, own context.CancelCauseFunc), caused error,
) {
	type key struct{}
	parent, endParent := context.WithCancelCause(context.WithValue(t.Context(), key{}, "value"))
	defer endParent(nil)
	ctx, own := within(parent)
	defer own(nil)
	child, endChild := context.WithCancel(ctx)
	defer endChild()
	ours := new(contexts.Context)
	ours.Init(ctx)
	defer ours.Cancel(nil)
	var ran atomic.Int32
	for range 3 {
		context.AfterFunc(ctx, func() { ran.Add(1) })
	}
	taken := context.AfterFunc(ctx, func() { t.Error("what was taken back is done all the same") })
	if !taken() || taken() {
		t.Error("it was not taken back once")
	}
	left, leave := within(ctx)
	leave(nil)
	if ctx.Err() != nil || contexts.Cause(ctx) != nil || ctx.Value(key{}) != "value" || left.Err() == nil {
		t.Errorf("before its end: %v, %v, %v; what left it: %v", ctx.Err(), contexts.Cause(ctx), ctx.Value(key{}), left.Err())
	}

	end(endParent, own)
	<-ctx.Done()
	<-child.Done()
	<-ours.Done()
	synctest.Wait()
	for what, ctx := range map[string]context.Context{"it": ctx, "what package context made of it": child, "ours in it": ours} {
		if !errors.Is(ctx.Err(), context.Canceled) || ctx.Err().Error() != context.Canceled.Error() || !errors.Is(contexts.Cause(ctx), caused) {
			t.Errorf("%s ended: %v, because of %v", what, ctx.Err(), contexts.Cause(ctx))
		}
	}
	late := false
	if stop := context.AfterFunc(ctx, func() { late = true }); stop() {
		t.Error("what begins after the end can be taken back")
	}
	after, endAfter := within(ctx)
	defer endAfter(nil)
	if after.Err() == nil {
		t.Error("what begins in it after its end goes on")
	}
	synctest.Wait()
	if ran.Load() != 3 || !late {
		t.Errorf("%d of 3 were done, late %v", ran.Load(), late)
	}
}

func TestContext_EndsAtParentDeadline(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		parent, cancel := context.WithTimeout(t.Context(), 1)
		defer cancel()
		var c contexts.Context
		c.Init(parent)
		defer c.Cancel(nil)
		<-c.Done()
		if !errors.Is(c.Err(), context.DeadlineExceeded) || !errors.Is(context.Cause(&c), context.DeadlineExceeded) {
			t.Errorf("%v, %v", c.Err(), context.Cause(&c))
		}
	})
}

// Children begin and end while their parent ends.
func TestContext_ConcurrentChildrenEndWithParent(t *testing.T) {
	t.Parallel()
	for range 200 {
		var outer contexts.Context
		outer.Init(context.Background())
		var parts sync.WaitGroup
		for range 4 {
			parts.Go(func() {
				for outer.Err() == nil {
					var c contexts.Context
					c.Init(&outer)
					stop := context.AfterFunc(&c, func() {})
					stop()
					c.Cancel(errCause)
				}
				var c contexts.Context
				c.Init(&outer)
				<-c.Done()
				c.Cancel(nil)
			})
		}
		outer.Cancel(nil)
		parts.Wait()
	}
}

// BenchmarkContext measures a request and a call in it, by both packages.
//
//	make bench
func BenchmarkContext(b *testing.B) {
	b.Run("ours", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			both := new(struct{ request, call contexts.Context })
			both.request.Init(context.Background())
			both.call.Init(&both.request)
			both.call.Cancel(nil)
			both.request.Cancel(nil)
		}
	})
	b.Run("package context's", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			request, endRequest := context.WithCancel(context.Background())
			_, endCall := context.WithCancelCause(request)
			endCall(nil)
			endRequest()
		}
	})
}
