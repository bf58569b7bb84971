package limit_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"patchbay/internal/limit"
)

func TestGate_BoundsEachKeyAndAll(t *testing.T) {
	t.Parallel()
	g := limit.NewGate[string](2, 3)
	for _, step := range []struct {
		key string
		ok  bool
	}{{"a", true}, {"a", true}, {"a", false}, {"b", true}, {"b", false}, {"c", false}} {
		if ok := g.TryAcquire(step.key); ok != step.ok {
			t.Errorf("%s: %v", step.key, ok)
		}
	}
	g.Release("a")
	if !g.TryAcquire("c") || g.TryAcquire("a") {
		t.Error("a place that was released is not taken once")
	}
}

func TestGate_IsKeyFull(t *testing.T) {
	t.Parallel()
	g := limit.NewGate[string](2, 3)
	for _, step := range []struct {
		key        string
		full, next bool // before and after
	}{{"a", false, false}, {"a", false, true}, {"b", false, false}} {
		if full := g.IsKeyFull(step.key); full != step.full || !g.TryAcquire(step.key) || g.IsKeyFull(step.key) != step.next {
			t.Errorf("%s: %v", step.key, full)
		}
	}
	if g.TryAcquire("b") || g.IsKeyFull("b") {
		t.Error("the bound of all keys counts as that of one")
	}
	g.Release("a")
	if g.IsKeyFull("a") {
		t.Error("full after a release")
	}
}

func TestGate_ZeroBoundsNothing(t *testing.T) {
	t.Parallel()
	var g limit.Gate[int]
	for range 1000 {
		if !g.TryAcquire(1) {
			t.Fatal("refused")
		}
	}
}

func TestGate_KeysTakeTurns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := limit.NewGate[string](0, 1)
		if err := g.Acquire(t.Context(), "big"); err != nil {
			t.Fatal(err)
		}
		var served []string // by one at a time
		for n := range 105 {
			key := "big"
			if n >= 100 {
				key = "small"
			}
			go func() {
				if err := g.Acquire(t.Context(), key); err != nil {
					t.Error(err)
					return
				}
				served = append(served, key)
				g.Release(key)
			}()
			synctest.Wait()
		}
		g.Release("big")
		synctest.Wait()
		if len(served) != 105 || slices.Index(served, "small") > 1 || slices.Contains(served[10:], "small") {
			t.Errorf("served: %q", served)
		}
		if !g.TryAcquire("small") || g.TryAcquire("big") {
			t.Error("places are left over, or missing")
		}
	})
}

// A key at its bound does not hold up the keys behind it.
func TestGate_KeyAtItsBoundIsPassed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := limit.NewGate[string](1, 2)
		_ = g.TryAcquire("a")
		_ = g.TryAcquire("b")
		served := make(chan string, 2)
		for _, key := range []string{"a", "c"} {
			go func() {
				if g.Acquire(t.Context(), key) == nil {
					served <- key
				}
			}()
			synctest.Wait()
		}
		g.Release("b")
		if got := <-served; got != "c" {
			t.Errorf("%s was served", got)
		}
		synctest.Wait()
		if len(served) > 0 {
			t.Error("a has two places")
		}
		g.Release("a")
		if got := <-served; got != "a" {
			t.Errorf("%s was served", got)
		}
	})
}

func TestGate_EndOfWaitLeavesNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := limit.NewGate[string](0, 1)
		_ = g.TryAcquire("a")
		gone := errors.New("gone")
		ctx, cancel := context.WithCancelCause(t.Context())
		var waits sync.WaitGroup
		for range 3 {
			waits.Go(func() {
				switch err := g.Acquire(ctx, "a"); {
				case err == nil: // its turn came first
					g.Release("a")
				case !errors.Is(err, gone):
					t.Error(err)
				}
			})
		}
		synctest.Wait()
		go g.Release("a")
		cancel(gone)
		waits.Wait()
		synctest.Wait()
		if !g.TryAcquire("b") || g.TryAcquire("b") {
			t.Error("places are left over, or missing")
		}
	})
}

func BenchmarkGate(b *testing.B) {
	g := limit.NewGate[[16]byte](1000, 0)
	b.ReportAllocs()
	for b.Loop() {
		if g.TryAcquire([16]byte{1}) {
			g.Release([16]byte{1})
		}
	}
}
