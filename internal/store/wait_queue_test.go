package store_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgconn"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/store"
)

var errBroken = store.Classify(io.ErrUnexpectedEOF)

// outage is a database that is away until it is said to be back.
type outage struct {
	t     *testing.T
	queue store.WaitQueue
	cause atomic.Bool

	mu     sync.Mutex
	served []string // guarded by mu
}

func newOutage(t *testing.T) *outage {
	t.Helper()
	o := &outage{t: t}
	o.cause.Store(true)
	o.queue = store.NewWaitQueue(func(context.Context) error { return o.err() })
	t.Cleanup(o.queue.Close)
	return o
}

func (o *outage) err() error {
	if o.cause.Load() {
		return errBroken
	}
	return nil
}

// request is one that is served under a name when the database is there, which takes a millisecond.
func (o *outage) request(ctx context.Context, name string, b *store.WaitBudget) error {
	return o.queue.Retry(ctx, b, func(context.Context) error {
		if err := o.err(); err != nil {
			return err
		}
		o.mu.Lock()
		o.served = append(o.served, name)
		o.mu.Unlock()
		time.Sleep(time.Millisecond)
		return nil
	})
}

func tenantBudget(tenant connectors.TenantID, arrived time.Time) *store.WaitBudget {
	return &store.WaitBudget{Arrived: arrived, Tenant: tenant}
}

func networkBudget(n int) *store.WaitBudget {
	return &store.WaitBudget{Arrived: time.Now(), From: netip.AddrFrom4([4]byte{10, 0, byte(n >> 8), byte(n)})}
}

func newTenantID() connectors.TenantID { return connectors.TenantID{UUID: uuid.New()} }

func TestWaitQueue_ReleasesKnownCallersByArrival(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		o := newOutage(t)
		const each = 8 // as many as are released at once
		began, tenant := time.Now(), newTenantID()
		var requests sync.WaitGroup
		for _, group := range []string{"unknown", "second", "first"} {
			for n := range each {
				b := networkBudget(n)
				if group != "unknown" {
					b = tenantBudget(tenant, began.Add(map[string]time.Duration{"first": 1, "second": 2}[group]))
				}
				requests.Go(func() {
					if err := o.request(t.Context(), group, b); err != nil {
						t.Errorf("%s: %v", group, err)
					}
				})
			}
			synctest.Wait()
		}
		o.cause.Store(false)
		requests.Wait()
		if groups := slices.Compact(slices.Clone(o.served)); !slices.Equal(groups, []string{"first", "second", "unknown"}) {
			t.Errorf("served %v", o.served)
		}
		if stats := o.queue.Stats(); stats.Waiting != 0 || stats.Waited != 3*each {
			t.Errorf("%+v", stats)
		}
	})
}

func TestWaitQueue_RefusesAfter15Seconds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		o := newOutage(t)
		b := tenantBudget(newTenantID(), time.Now())
		time.AfterFunc(10*time.Second, func() { o.cause.Store(false) })
		began := time.Now()
		if err := o.request(t.Context(), "call", b); err != nil || time.Since(began) > 11*time.Second {
			t.Fatalf("after %s: %v", time.Since(began), err)
		}
		o.cause.Store(true)
		err := o.request(t.Context(), "call", b)
		if took := time.Since(began); took < 14*time.Second || took > 15*time.Second {
			t.Errorf("refused after %s", took)
		}
		if f := fault.As(err); f.Kind != fault.Unavailable || f.RetryAfter == 0 {
			t.Errorf("refused with %v, after %d s", f, f.RetryAfter)
		}
		if err := o.request(t.Context(), "call", b); time.Since(began) > 15*time.Second || !fault.Is(err, fault.Unavailable) {
			t.Errorf("once more: %v after %s", err, time.Since(began))
		}
		if stats := o.queue.Stats(); stats.Refused[store.RefusedLate] == 0 {
			t.Errorf("%+v", stats)
		}
	})
}

func TestWaitQueue_RefusesWhenFull(t *testing.T) {
	t.Parallel()
	tenant := newTenantID()
	for name, tc := range map[string]struct {
		budget func(n int) *store.WaitBudget
		room   int
	}{
		"callers that are known": {func(int) *store.WaitBudget { return tenantBudget(newTenantID(), time.Now()) }, 1000},
		"of one tenant":          {func(int) *store.WaitBudget { return tenantBudget(tenant, time.Now()) }, 500},
		"bytes": {func(int) *store.WaitBudget {
			b := tenantBudget(newTenantID(), time.Now())
			b.Bytes = 4 << 20
			return b
		}, 16},
		"callers that are not known": {networkBudget, 250},
		"of one network":             {func(int) *store.WaitBudget { return networkBudget(0) }, 64},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				o := newOutage(t)
				var requests sync.WaitGroup
				var right atomic.Int64
				for n := range tc.room {
					requests.Go(func() {
						if o.request(t.Context(), "call", tc.budget(n)) == nil {
							right.Add(1)
						}
					})
				}
				synctest.Wait()
				began := time.Now()
				if err := o.request(t.Context(), "one too many", tc.budget(tc.room)); fault.As(err).RetryAfter == 0 || time.Since(began) > 0 {
					t.Errorf("one too many: %v after %s", err, time.Since(began))
				}
				if stats := o.queue.Stats(); stats.Waiting != tc.room || stats.Refused[store.RefusedFull] != 1 {
					t.Errorf("%+v", stats)
				}
				o.cause.Store(false)
				requests.Wait()
				if right.Load() != int64(tc.room) {
					t.Errorf("%d of %d were served", right.Load(), tc.room)
				}
			})
		})
	}
}

// Unverified callers take no slots of verified ones.
func TestWaitQueue_KeepsRoomForKnownCallers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		o := newOutage(t)
		var requests sync.WaitGroup
		for n := range 2000 {
			requests.Go(func() { _ = o.request(t.Context(), "unknown", networkBudget(n)) })
		}
		synctest.Wait()
		requests.Go(func() {
			if err := o.request(t.Context(), "known", tenantBudget(newTenantID(), time.Now())); err != nil {
				t.Error(err)
			}
		})
		synctest.Wait()
		o.cause.Store(false)
		requests.Wait()
		if at := slices.Index(o.served, "known"); at < 0 || at >= 8 {
			t.Errorf("a caller that is known was served in place %d", at)
		}
	})
}

func TestWaitQueue_SharesRoomAmongNetworks(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		o := newOutage(t)
		var requests sync.WaitGroup
		var refused atomic.Int64
		for n := range 250 { // of four networks: they take all places
			requests.Go(func() {
				if o.request(t.Context(), "crowd", networkBudget(n%4)) != nil {
					refused.Add(1)
				}
			})
		}
		synctest.Wait()
		for n := range 40 {
			requests.Go(func() {
				if err := o.request(t.Context(), "other", networkBudget(10+n)); err != nil {
					t.Error(err)
				}
			})
		}
		synctest.Wait()
		if stats := o.queue.Stats(); stats.Waiting != 250 || refused.Load() != 40 {
			t.Errorf("%d refused: %+v", refused.Load(), stats)
		}
		o.cause.Store(false)
		requests.Wait()
		if stats := o.queue.Stats(); len(o.served) != 250 || stats.Waiting != 0 {
			t.Errorf("%d served: %+v", len(o.served), stats)
		}
	})
}

func TestWaitQueue_ReleasesAFewAtATime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		o := newOutage(t)
		var requests sync.WaitGroup
		var now, most, runs atomic.Int64
		for range 100 {
			requests.Go(func() {
				_ = o.queue.Retry(t.Context(), tenantBudget(newTenantID(), time.Now()), func(context.Context) error {
					if err := o.err(); err != nil {
						return err
					}
					runs.Add(1)
					if n := now.Add(1); n > most.Load() {
						most.Store(n)
					}
					time.Sleep(time.Millisecond)
					now.Add(-1)
					return nil
				})
			})
		}
		synctest.Wait()
		o.cause.Store(false)
		requests.Wait()
		if most.Load() > 8 || runs.Load() != 100 {
			t.Errorf("%d at once, %d in all", most.Load(), runs.Load())
		}
	})
}

func TestWaitQueue_ClientLeaves(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		o := newOutage(t)
		ctx, leave := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, leave)
		began := time.Now()
		if err := o.request(ctx, "call", tenantBudget(newTenantID(), began)); !errors.Is(err, context.Canceled) || time.Since(began) != time.Second {
			t.Errorf("%v after %s", err, time.Since(began))
		}
		if stats := o.queue.Stats(); stats.Waiting != 0 {
			t.Errorf("%+v", stats)
		}
	})
}

// What hangs is given up with the wait.
func TestWaitQueue_EndsWhatHangs(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		o := newOutage(t)
		began := time.Now()
		err := o.queue.Retry(t.Context(), tenantBudget(newTenantID(), began), func(ctx context.Context) error {
			<-ctx.Done()
			return store.Classify(ctx.Err())
		})
		if fault.As(err).RetryAfter == 0 || time.Since(began) != 15*time.Second {
			t.Errorf("%v after %s", err, time.Since(began))
		}
	})
}

func TestWaitQueue_OutageReturns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		o := newOutage(t)
		for n := range 8 { // it comes and goes each half a second
			time.AfterFunc(time.Duration(n+1)*500*time.Millisecond, func() { o.cause.Store(n%2 == 1) })
		}
		var requests sync.WaitGroup
		for n := range 200 {
			requests.Go(func() {
				time.Sleep(time.Duration(n) * 20 * time.Millisecond)
				if err := o.request(t.Context(), fmt.Sprint(n), tenantBudget(newTenantID(), time.Now())); err != nil {
					t.Errorf("request %d: %v", n, err)
				}
			})
		}
		time.Sleep(5 * time.Second)
		o.cause.Store(false)
		requests.Wait()
		if len(o.served) != 200 {
			t.Errorf("%d were served", len(o.served))
		}
	})
}

func TestRetry_RunsAgainWhileTheDatabaseIsAway(t *testing.T) {
	t.Parallel()
	refused := store.Classify(&pgconn.ConnectError{Config: &pgconn.Config{}})
	for name, tc := range map[string]struct {
		err  error
		runs int
	}{
		"no connection":     {refused, 2},
		"connection broke":  {errBroken, 2},
		"statement refused": {store.Classify(&pgconn.PgError{Code: "23505"}), 1},
		"session ended":     {store.Classify(&pgconn.PgError{Code: "57P01"}), 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				o := newOutage(t)
				o.cause.Store(false)
				runs := 0
				err := o.queue.Retry(t.Context(), tenantBudget(newTenantID(), time.Now()), func(context.Context) error {
					if runs++; runs == 1 {
						return tc.err
					}
					return nil
				})
				if runs != tc.runs || (err == nil) != (tc.runs == 2) {
					t.Errorf("%d runs, %v", runs, err)
				}
			})
		})
	}
}
