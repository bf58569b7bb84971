package store_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"

	"patchbay/internal/safe"
	"patchbay/internal/store"
	"patchbay/internal/testing/fixture"
)

// TestWatch_PanicConnectsAnew has the goroutine panic that hears what other processes change.
func TestWatch_PanicConnectsAnew(t *testing.T) {
	w := fixture.New(t)
	well := watched(t, w)
	process, err := store.Open(t.Context(), w.Pool, w.KEK)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(process.Close)
	var panics atomic.Bool
	panics.Store(true)
	heard, states := make(chan store.ChangeEvent, 100), make(chan bool, 100)
	ctx, stop := context.WithCancel(t.Context())
	var watching sync.WaitGroup
	watching.Go(func() {
		_ = process.Watch(ctx, func(n store.ChangeEvent) {
			if panics.CompareAndSwap(true, false) {
				panic("of a test")
			}
			heard <- n
		}, func(connected bool) { states <- connected })
	})
	t.Cleanup(func() { stop(); watching.Wait() })
	hears := func(want bool) {
		for state := range states {
			if state == want {
				return
			}
		}
	}
	hears(true)
	before := safe.Count(safe.Database)
	agent := w.Agent(t)
	change := func() store.ChangeEvent {
		if _, err := w.Door().Agents().Update(t.Context(), agent); err != nil {
			t.Fatal(err)
		}
		return store.ChangeEvent{Kind: "agent", Tenant: w.Tenant, ID: agent.ID.String()}
	}
	await(t, well, "another listener", change())
	hears(false) // what it missed must not be believed any more
	hears(true)
	await(t, heard, "the listener that panicked", change())
	if n := safe.Count(safe.Database) - before; n < 1 {
		t.Errorf("%d panics are counted", n)
	}
}
