package store_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"patchbay/internal/safe"
	"patchbay/internal/store"
	"patchbay/internal/testing/paniclog"
)

// The probe of the database panics while requests wait for it.
func TestWaitQueue_PanicOfProbeReleasesItsRequests(t *testing.T) {
	t.Parallel()
	panics := paniclog.Start()
	const times = 3
	synctest.Test(t, func(t *testing.T) {
		o := newOutage(t)
		var probes atomic.Int32
		o.queue = store.NewWaitQueue(func(context.Context) error {
			if probes.Add(1) <= times {
				panic("a secret")
			}
			o.cause.Store(false)
			return nil
		})
		t.Cleanup(o.queue.Close)
		tenant, began := newTenantID(), time.Now()
		var requests sync.WaitGroup
		for range 2 {
			requests.Go(func() {
				if err := o.request(t.Context(), "call", tenantBudget(tenant, began)); err != nil {
					t.Error(err)
				}
			})
		}
		requests.Wait()
		if err := o.request(t.Context(), "call", tenantBudget(tenant, began)); err != nil {
			t.Errorf("the next request: %v", err)
		}
		if stats := o.queue.Stats(); stats.Waiting != 0 || time.Since(began) > 3*time.Second {
			t.Errorf("%+v after %s", stats, time.Since(began))
		}
	})
	panics.WantTimes(t, safe.Background, "TestWaitQueue_PanicOfProbeReleasesItsRequests", times)
}

// A request panics when it was released. Its place goes to the next one.
func TestWaitQueue_PanicOfRequestReleasesTheNext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		o := newOutage(t)
		tenant, began := newTenantID(), time.Now()
		const panicking = 20 // more than are released at once
		var requests sync.WaitGroup
		for range panicking {
			requests.Go(func() {
				defer func() { _ = recover() }()
				_ = o.queue.Retry(t.Context(), tenantBudget(tenant, began), func(context.Context) error {
					if err := o.err(); err != nil {
						return err
					}
					panic("of a test")
				})
				t.Error("a request did not panic")
			})
		}
		synctest.Wait()
		requests.Go(func() {
			if err := o.request(t.Context(), "last", tenantBudget(tenant, began.Add(1))); err != nil {
				t.Error(err)
			}
		})
		synctest.Wait()
		o.cause.Store(false)
		requests.Wait()
		if stats := o.queue.Stats(); stats.Waiting != 0 || stats.Waited != panicking+1 {
			t.Errorf("%+v", stats)
		}
	})
}
