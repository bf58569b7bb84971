package toolsync

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"

	"patchbay/internal/connectors"
)

// queueTest sends claims to hosts through a pool of 32 slots and 128 claims.
type queueTest struct {
	*testing.T
	tenant    connectors.TenantID
	places    *slotPool
	postponed atomic.Int64 // claims released as busy
}

// connect starts a session of the given duration and reports whether the pool had a slot.
func (c *queueTest) connect(ctx context.Context, server string, lasts time.Duration) bool {
	c.Helper()
	return c.connectAndSave(ctx, server, lasts, func() {})
}

// connectAndSave is connect with save before the slots are released.
func (c *queueTest) connectAndSave(ctx context.Context, server string, lasts time.Duration, save func()) bool {
	c.Helper()
	c.places.addReservers(1)
	room, _ := c.places.tryReserve(1, 1)
	c.places.addReservers(-1)
	if room == 0 {
		return false
	}
	at, away := c.places.requestHostSlot(server, c.tenant, time.Minute)
	if at == nil {
		c.wantRetryAfter(away)
		return true
	}
	go func() {
		away, err := at.wait(ctx)
		if errors.Is(err, errHostBusy) {
			c.wantRetryAfter(away)
		}
		if err != nil {
			return
		}
		select {
		case <-time.After(lasts):
		case <-ctx.Done():
		}
		at.markIdle()
		save()
		at.release()
	}()
	synctest.Wait()
	return true
}

func (c *queueTest) wantRetryAfter(away time.Duration) {
	c.postponed.Add(1)
	if away < minRetryAfter || away > maxRetryAfter {
		c.Errorf("put off for %s", away)
	}
}

func (c *queueTest) claims() int {
	c.places.mu.Lock()
	defer c.places.mu.Unlock()
	return c.places.claims
}

// runQueueTest runs a test with a pool of its own, which must be empty at the end.
func runQueueTest(t *testing.T, test func(ctx context.Context, c *queueTest)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		c := &queueTest{T: t, places: newSlotPool(32)}
		test(ctx, c)
		cancel()
		synctest.Wait()
		if p := c.places; p.claims != 0 || p.free != p.capacity || len(p.hosts) != 0 || len(p.waiting) != 0 {
			t.Errorf("%d claims, %d places free, %d servers, %d waiting at the end", p.claims, p.free, len(p.hosts), len(p.waiting))
		}
	})
}

func TestHostQueue_HungServerKeepsNoClaimsWithoutASlot(t *testing.T) {
	t.Parallel()
	runQueueTest(t, func(ctx context.Context, c *queueTest) {
		const due = 3000
		for came := 0; came < due; {
			if c.connect(ctx, "https://hung.example", time.Hour) {
				came++
				continue
			}
			time.Sleep(maxQueueStall) // synctest's clock
			synctest.Wait()
		}
		if n := c.postponed.Load(); n != due-maxTenantHostSlots || c.claims() != maxTenantHostSlots {
			c.Errorf("%d of %d were given back, and %d claims are in hand", n, due, c.claims())
		}
		if !c.connect(ctx, "https://well.example", time.Hour) || c.claims() != maxTenantHostSlots+1 {
			c.Error("no room for a server that is well")
		}
	})
}

func TestHostQueue_HungTenantLeavesSlotsToOthers(t *testing.T) {
	t.Parallel()
	runQueueTest(t, func(ctx context.Context, c *queueTest) {
		const shared = "https://shared.example"
		for came := 0; came < 200; {
			if c.connect(ctx, shared, time.Hour) {
				came++
				continue
			}
			time.Sleep(maxQueueStall) // synctest's clock
			synctest.Wait()
		}
		time.Sleep(slowSessionAfter)
		synctest.Wait()
		hung, away := c.claims(), c.postponed.Load()
		c.tenant = connectors.TenantID{UUID: uuid.New()}
		for range 50 {
			c.connect(ctx, shared, 100*time.Millisecond)
		}
		time.Sleep(maxQueueStall)
		synctest.Wait()
		if c.postponed.Load() != away || c.claims() != hung {
			c.Errorf("%d of another tenant were put off, %d are in hand", c.postponed.Load()-away, c.claims()-hung)
		}
	})
}

func TestHostQueue_SlowSessionsYieldTheirPoolSlots(t *testing.T) {
	t.Parallel()
	runQueueTest(t, func(ctx context.Context, c *queueTest) {
		for i := range 32 { // all slots
			if !c.connect(ctx, fmt.Sprintf("https://%d.example", i), time.Hour) {
				c.Fatalf("no room for the %dth", i)
			}
		}
		if c.connect(ctx, "https://late.example", time.Hour) {
			c.Error("there are more places than there should be")
		}
		time.Sleep(slowSessionAfter)
		synctest.Wait()
		if !c.connect(ctx, "https://late.example", time.Hour) {
			c.Error("no room beside conversations that hang")
		}
	})
}

func TestHostQueue_QuickServerServesItsQueue(t *testing.T) {
	t.Parallel()
	runQueueTest(t, func(ctx context.Context, c *queueTest) {
		for range 100 {
			c.connect(ctx, "https://quick.example", 200*time.Millisecond)
		}
		time.Sleep(200 * time.Millisecond * 100 / maxTenantHostSlots)
		synctest.Wait()
		time.Sleep(time.Second)
		synctest.Wait()
		if n := c.postponed.Load(); n != 0 || c.claims() != 0 {
			c.Errorf("%d were given back, %d claims are in hand", n, c.claims())
		}
	})
}

func TestHostQueue_MovingQueueKeepsClaimsForAWhile(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		saving time.Duration // each, in sequence
		busy   bool          // some are postponed
	}{
		"PostgreSQL is slow":              {200 * time.Millisecond, false},
		"PostgreSQL hardly does anything": {maxQueueStall - time.Millisecond, true},
		"PostgreSQL does not do anything": {time.Hour, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			runQueueTest(t, func(ctx context.Context, c *queueTest) {
				pen := make(chan struct{}, 1)
				for range 80 {
					if !c.connectAndSave(ctx, "https://quick.example", time.Millisecond, func() {
						select {
						case pen <- struct{}{}:
						case <-ctx.Done():
							return
						}
						select {
						case <-time.After(tc.saving):
						case <-ctx.Done():
						}
						<-pen
					}) {
						t.Fatal("there is no room")
					}
				}
				time.Sleep(maxQueueWait + maxQueueStall) // synctest's clock
				if busy := c.postponed.Load() > 0; busy != tc.busy {
					t.Errorf("%d were put off", c.postponed.Load())
				}
			})
		})
	}
}

func TestTenantQueue_SpreadsRetries(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g, now := &tenantQueue{meanDuration: 4 * time.Second}, time.Now()
		last := time.Duration(0)
		for i := range 100 {
			away := g.nextRetryAfter(now, time.Minute)
			if away-last < 4*time.Second/maxTenantHostSlots {
				t.Fatalf("the %dth comes after %s, the one before after %s", i, away, last)
			}
			last = away
		}
		if want := minRetryAfter + 100*4*time.Second/maxTenantHostSlots; last > want+time.Second {
			t.Errorf("the last comes after %s, where %s are enough", last, want)
		}
	})
}
