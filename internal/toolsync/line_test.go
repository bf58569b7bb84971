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

// crowding has claims come to the servers of a small process, which has 32 places and 128 claims.
type crowding struct {
	*testing.T
	tenant connectors.TenantID
	places *places
	busy   atomic.Int64 // were given back
}

// come has a claim talk to a server for so long, and tells whether there was room for it in the process.
func (c *crowding) come(ctx context.Context, server string, lasts time.Duration) bool {
	c.Helper()
	return c.comes(ctx, server, lasts, func() {})
}

// comes is come, with what was heard saved before the seat is left.
func (c *crowding) comes(ctx context.Context, server string, lasts time.Duration, save func()) bool {
	c.Helper()
	c.places.ask(1)
	room, _ := c.places.take(1, 1)
	c.places.ask(-1)
	if room == 0 {
		return false
	}
	at, away := c.places.enter(server, c.tenant, time.Minute)
	if at == nil {
		c.isAway(away)
		return true
	}
	go func() {
		away, err := at.sit(ctx)
		if errors.Is(err, errBusy) {
			c.isAway(away)
		}
		if err != nil {
			return
		}
		select {
		case <-time.After(lasts):
		case <-ctx.Done():
		}
		at.heard()
		save()
		at.leave()
	}()
	synctest.Wait()
	return true
}

func (c *crowding) isAway(away time.Duration) {
	c.busy.Add(1)
	if away < leastPutOff || away > mostPutOff {
		c.Errorf("put off for %s", away)
	}
}

func (c *crowding) claims() int {
	c.places.mu.Lock()
	defer c.places.mu.Unlock()
	return c.places.claims
}

// inCrowd runs a test in a process of its own, which is empty in the end.
func inCrowd(t *testing.T, test func(ctx context.Context, c *crowding)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		c := &crowding{T: t, places: newPlaces(32)}
		test(ctx, c)
		cancel()
		synctest.Wait()
		if p := c.places; p.claims != 0 || p.free != p.most || len(p.hosts) != 0 || len(p.waiting) != 0 {
			t.Errorf("%d claims, %d places free, %d servers, %d waiting at the end", p.claims, p.free, len(p.hosts), len(p.waiting))
		}
	})
}

func TestAServerThatHangsKeepsNoMoreClaimsThanItHasConversations(t *testing.T) {
	t.Parallel()
	inCrowd(t, func(ctx context.Context, c *crowding) {
		const due = 3000
		for came := 0; came < due; {
			if c.come(ctx, "https://hung.example", time.Hour) {
				came++
				continue
			}
			time.Sleep(linePatience) // of the test's own time
			synctest.Wait()
		}
		if n := c.busy.Load(); n != due-perHost || c.claims() != perHost {
			c.Errorf("%d of %d were given back, and %d claims are in hand", n, due, c.claims())
		}
		if !c.come(ctx, "https://well.example", time.Hour) || c.claims() != perHost+1 {
			c.Error("no room for a server that is well")
		}
	})
}

func TestATenantWhoseConnectorsHangAtAServerLeavesSeatsThereToTheOthers(t *testing.T) {
	t.Parallel()
	inCrowd(t, func(ctx context.Context, c *crowding) {
		const shared = "https://shared.example"
		for came := 0; came < 200; {
			if c.come(ctx, shared, time.Hour) {
				came++
				continue
			}
			time.Sleep(linePatience) // of the test's own time
			synctest.Wait()
		}
		time.Sleep(slowAfter)
		synctest.Wait()
		hung, away := c.claims(), c.busy.Load()
		c.tenant = connectors.TenantID{UUID: uuid.New()}
		for range 50 {
			c.come(ctx, shared, 100*time.Millisecond)
		}
		time.Sleep(linePatience)
		synctest.Wait()
		if c.busy.Load() != away || c.claims() != hung {
			c.Errorf("%d of another tenant were put off, %d are in hand", c.busy.Load()-away, c.claims()-hung)
		}
	})
}

func TestConversationsThatLastLongLeaveTheirPlacesToOthers(t *testing.T) {
	t.Parallel()
	inCrowd(t, func(ctx context.Context, c *crowding) {
		for i := range 32 { // as many as there are places
			if !c.come(ctx, fmt.Sprintf("https://%d.example", i), time.Hour) {
				c.Fatalf("no room for the %dth", i)
			}
		}
		if c.come(ctx, "https://late.example", time.Hour) {
			c.Error("there are more places than there should be")
		}
		time.Sleep(slowAfter)
		synctest.Wait()
		if !c.come(ctx, "https://late.example", time.Hour) {
			c.Error("no room beside conversations that hang")
		}
	})
}

func TestAServerThatAnswersSoonHasALineOfItsOwn(t *testing.T) {
	t.Parallel()
	inCrowd(t, func(ctx context.Context, c *crowding) {
		for range 100 {
			c.come(ctx, "https://quick.example", 200*time.Millisecond)
		}
		time.Sleep(200 * time.Millisecond * 100 / perHost)
		synctest.Wait()
		time.Sleep(time.Second)
		synctest.Wait()
		if n := c.busy.Load(); n != 0 || c.claims() != 0 {
			c.Errorf("%d were given back, %d claims are in hand", n, c.claims())
		}
	})
}

func TestALineThatMovesKeepsItsClaimsButNotForEver(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		saving time.Duration // one after the other
		busy   bool          // some were put off
	}{
		"PostgreSQL is slow":              {200 * time.Millisecond, false},
		"PostgreSQL hardly does anything": {linePatience - time.Millisecond, true},
		"PostgreSQL does not do anything": {time.Hour, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inCrowd(t, func(ctx context.Context, c *crowding) {
				pen := make(chan struct{}, 1)
				for range 80 {
					if !c.comes(ctx, "https://quick.example", time.Millisecond, func() {
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
				time.Sleep(mostPatience + linePatience) // of the test's own clock
				if busy := c.busy.Load() > 0; busy != tc.busy {
					t.Errorf("%d were put off", c.busy.Load())
				}
			})
		})
	}
}

func TestWhoIsPutOffComesInTurn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g, now := &guest{mean: 4 * time.Second}, time.Now()
		last := time.Duration(0)
		for i := range 100 {
			away := g.putOff(now, time.Minute)
			if away-last < 4*time.Second/perHost {
				t.Fatalf("the %dth comes after %s, the one before after %s", i, away, last)
			}
			last = away
		}
		if want := leastPutOff + 100*4*time.Second/perHost; last > want+time.Second {
			t.Errorf("the last comes after %s, where %s are enough", last, want)
		}
	})
}
