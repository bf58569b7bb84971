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

// grants are the names of requests that have their bytes, in their order.
type grants struct {
	mu    sync.Mutex
	names []string // guarded by mu
}

// acquire acquires bytes in a goroutine, and returns when that waits or has them.
func (g *grants) acquire(t *testing.T, b *limit.Bytes[string], key string, n int, name string) {
	t.Helper()
	go func() {
		if err := b.Acquire(t.Context(), key, n); err != nil {
			t.Error(err)
			return
		}
		g.mu.Lock()
		defer g.mu.Unlock()
		g.names = append(g.names, name)
	}()
	synctest.Wait()
}

// check compares the names so far. Those behind the first ordered ones may have any order.
func (g *grants) check(t *testing.T, ordered int, want ...string) {
	t.Helper()
	synctest.Wait()
	g.mu.Lock()
	defer g.mu.Unlock()
	got := slices.Clone(g.names)
	slices.Sort(got[min(ordered, len(got)):])
	if !slices.Equal(got, want) {
		t.Errorf("granted: %q, want %q", got, want)
	}
}

func TestBytes_BoundsEachKeyAndAll(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := &limit.Bytes[string]{PerKey: 60, Total: 100}
		var g grants
		g.acquire(t, b, "a", 50, "a1")
		g.acquire(t, b, "a", 20, "a2") // more than a's share
		g.acquire(t, b, "b", 40, "b1") // passes a2
		g.acquire(t, b, "c", 20, "c1") // more than all
		g.acquire(t, b, "d", 5, "d1")  // fits, but c1 came before
		g.check(t, 2, "a1", "b1")
		b.Release("a", 50)
		g.check(t, 2, "a1", "b1", "a2", "c1", "d1")
	})
}

func TestBytes_ServesARequestAboveTheBoundsAlone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := &limit.Bytes[string]{PerKey: 10, Total: 20}
		var g grants
		g.acquire(t, b, "a", 500, "a1")
		g.acquire(t, b, "b", 1, "b1")
		g.check(t, 1, "a1")
		b.Release("a", 500)
		g.check(t, 1, "a1", "b1")
	})
}

func TestBytes_CancelledRequestLetsShorterOnesPass(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var b limit.Bytes[string]
		b.PerKey, b.Total = 100, 100
		var g grants
		g.acquire(t, &b, "a", 60, "a1")
		cause := errors.New("cancelled")
		ctx, cancel := context.WithCancelCause(t.Context())
		failed := make(chan error, 1)
		go func() { failed <- b.Acquire(ctx, "b", 50) }()
		synctest.Wait()
		g.acquire(t, &b, "c", 40, "c1")
		cancel(cause)
		if err := <-failed; !errors.Is(err, cause) {
			t.Errorf("error: %v", err)
		}
		g.check(t, 1, "a1", "c1")
	})
}

// The bytes of a request that is cancelled at the moment of its turn are not lost.
func TestBytes_CancelAtTheTurnLosesNothing(t *testing.T) {
	t.Parallel()
	for range 200 {
		b := &limit.Bytes[string]{PerKey: 10, Total: 10}
		if err := b.Acquire(t.Context(), "a", 10); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		result := make(chan error, 1)
		go func() { result <- b.Acquire(ctx, "b", 10) }()
		go cancel()
		b.Release("a", 10)
		if err := <-result; err == nil {
			b.Release("b", 10)
		}
		if err := b.Acquire(t.Context(), "c", 10); err != nil {
			t.Fatal(err)
		}
	}
}
