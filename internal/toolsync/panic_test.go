package toolsync

import (
	"net/http"
	"testing"

	"github.com/google/uuid"

	"patchbay/internal/connectors"
	"patchbay/internal/mcp"
	"patchbay/internal/store"
)

// newPanickingSyncer is a syncer with a store that panics.
func newPanickingSyncer() *Syncer {
	return New(Options{HTTP: &http.Client{Transport: &http.Transport{}}, Finished: func(connectors.SyncRun) { panic("of a test") }})
}

func (p *slotPool) wantAllFree(t *testing.T) {
	t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.free != maxSlots || p.claims != 0 || len(p.hosts) != 0 {
		t.Errorf("%d places are free, %d claims are in hand, %d servers are busy", p.free, p.claims, len(p.hosts))
	}
}

func TestScheduledSync_PanicReleasesItsSlot(t *testing.T) {
	t.Parallel()
	s := newPanickingSyncer()
	c := store.Claim{Connector: connectors.Connector{ID: connectors.ConnectorID{UUID: uuid.New()}, Settings: connectors.Settings{URL: "https://example.com/mcp"}}}
	s.claims.ids = map[connectors.ConnectorID]struct{}{c.Connector.ID: {}}
	s.slots.reserveSlots(t.Context(), 1)
	if busy := s.startClaims(t.Context(), []store.Claim{c}); len(busy) > 0 {
		t.Fatalf("%d claims are put off", len(busy))
	}
	s.heartbeat.runs.Wait()
	s.slots.wantAllFree(t)
	if ids, doubt := s.claims.list(); len(ids) > 0 || !doubt {
		t.Errorf("claims %v are held, doubt is %t", ids, doubt)
	}
}

func TestClaim_PanicReleasesItsSlots(t *testing.T) {
	t.Parallel()
	s := newPanickingSyncer()
	room := s.slots.reserveSlots(t.Context(), claimBatch)
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the claim did not panic")
			}
		}()
		_, _, _ = s.startDue(t.Context(), room, allShards())
	}()
	s.slots.wantAllFree(t)
	if _, doubt := s.claims.list(); !doubt {
		t.Error("the claims that the database may know of are not looked for")
	}
}

// Storing the end of a run panics: it is retried, but not for ever.
func TestHeartbeat_PanicKeepsUnsavedRuns(t *testing.T) {
	t.Parallel()
	s := newPanickingSyncer()
	s.heartbeat.addUnsaved(unsavedRun{run: store.NewSyncRunID()}, unsavedRun{run: store.NewSyncRunID()})
	for try := 1; try <= maxSavePanics; try++ {
		left := s.heartbeat.takeUnsaved()
		if len(left) != 2 {
			t.Fatalf("%d runs are left before try %d", len(left), try)
		}
		for _, l := range left {
			s.retryUnsaved(t.Context(), l)
		}
	}
	if left := s.heartbeat.takeUnsaved(); len(left) != 0 {
		t.Errorf("%d runs are left", len(left))
	}
}

// The store panics while the sync reads.
func TestScheduledSync_PanicWhileListingIsAFailure(t *testing.T) {
	t.Parallel()
	r := &scheduledRun{run: run{Syncer: newPanickingSyncer(), cachedInfo: &mcp.CachedServerInfo{}}}
	if _, err := r.fetchListing(t.Context()); err == nil {
		t.Error("no error")
	}
}
