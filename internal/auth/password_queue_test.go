package auth

import (
	"context"
	"runtime"
	"sync"
	"testing"

	"github.com/alexedwards/argon2id"

	"patchbay/internal/fault"
)

func TestHasher_BoundsWaiters(t *testing.T) {
	t.Parallel()
	h := newHasher(argon2id.Params{Memory: 8, Iterations: 1, Parallelism: 1, SaltLength: 8, KeyLength: 8})
	leave, err := h.acquireSlot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var waiters sync.WaitGroup
	for range maxWaiting {
		waiters.Go(func() {
			done, err := h.acquireSlot(context.WithoutCancel(t.Context()))
			if err != nil {
				t.Errorf("one that waits is refused: %v", err)
				return
			}
			done()
		})
	}
	for len(h.waiting) < maxWaiting {
		runtime.Gosched()
	}
	if _, err := h.acquireSlot(t.Context()); !fault.Is(err, fault.Unavailable) || fault.As(err).RetryAfter == 0 {
		t.Errorf("one more is answered %v", err)
	}
	leave()
	waiters.Wait()
	if done, err := h.acquireSlot(t.Context()); err != nil {
		t.Errorf("afterwards nobody is let in: %v", err)
	} else {
		done()
	}
}
