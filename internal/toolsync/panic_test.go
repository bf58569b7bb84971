package toolsync

import (
	"net/http"
	"testing"

	"github.com/google/uuid"

	"patchbay/internal/connectors"
	"patchbay/internal/mcp"
	"patchbay/internal/store"
)

// newPanickingSyncer is a syncer whose store panics, and who is told of ended runs.
func newPanickingSyncer() *Syncer {
	return New(Options{HTTP: http.DefaultClient, Finished: func(connectors.SyncRun) { panic("of a test") }})
}

func (p *places) wantAllFree(t *testing.T) {
	t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.free != maxPlaces || p.claims != 0 || len(p.hosts) != 0 {
		t.Errorf("%d places are free, %d claims are in hand, %d servers are busy", p.free, p.claims, len(p.hosts))
	}
}

func TestScheduledSync_PanicReleasesItsPlace(t *testing.T) {
	t.Parallel()
	s := newPanickingSyncer()
	c := store.Claim{Connector: connectors.Connector{ID: connectors.ConnectorID{UUID: uuid.New()}, URL: "https://example.com/mcp"}}
	s.held.all = map[connectors.ConnectorID]struct{}{c.Connector.ID: {}}
	s.places.reserve(t.Context(), 1)
	if busy := s.launchAll(t.Context(), []store.Claim{c}); len(busy) > 0 {
		t.Fatalf("%d claims are put off", len(busy))
	}
	s.heart.runs.Wait()
	s.places.wantAllFree(t)
	if ids, doubt := s.held.known(); len(ids) > 0 || !doubt {
		t.Errorf("claims %v are held, doubt is %t", ids, doubt)
	}
}

func TestClaim_PanicReleasesItsPlaces(t *testing.T) {
	t.Parallel()
	s := newPanickingSyncer()
	room := s.places.reserve(t.Context(), perClaim)
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the claim did not panic")
			}
		}()
		_, _, _ = s.claimInto(t.Context(), room, allShards())
	}()
	s.places.wantAllFree(t)
	if _, doubt := s.held.known(); !doubt {
		t.Error("the claims that the database may know of are not looked for")
	}
}

// TestBeat_PanicKeepsWhatIsLeftOver has the end of a run panic while it is stored: it is tried again, and not for ever.
func TestBeat_PanicKeepsWhatIsLeftOver(t *testing.T) {
	t.Parallel()
	s := newPanickingSyncer()
	s.heart.later(leftover{run: store.NewSyncRunID()}, leftover{run: store.NewSyncRunID()})
	for try := 1; try <= maxPanics; try++ {
		left := s.heart.takeLeftovers()
		if len(left) != 2 {
			t.Fatalf("%d runs are left before try %d", len(left), try)
		}
		for _, l := range left {
			s.closeLeftover(t.Context(), l)
		}
	}
	if left := s.heart.takeLeftovers(); len(left) != 0 {
		t.Errorf("%d runs are left", len(left))
	}
}

// TestScheduledSync_PanicOfItsReadingIsAFailure has the store panic while the sync reads.
func TestScheduledSync_PanicOfItsReadingIsAFailure(t *testing.T) {
	t.Parallel()
	r := &claimed{run: run{Syncer: newPanickingSyncer(), known: &mcp.Known{}}}
	if _, err := r.read(t.Context()); err == nil {
		t.Error("no error")
	}
}
