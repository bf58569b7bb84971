package toolsync

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"sync"

	"patchbay/internal/connectors"
	"patchbay/internal/store"
)

// claimSet holds the connectors that this process has claimed. When the response to a claim is lost, the
// database holds more of them. The zero value works.
type claimSet struct {
	claiming sync.RWMutex // read-locked during a claim

	mu        sync.Mutex // guards ids and uncertain
	ids       map[connectors.ConnectorID]struct{}
	uncertain bool // the response to a claim was lost
}

// claimDue claims up to limit due connectors and adds them to the set.
func (s *Syncer) claimDue(ctx context.Context, shards []int, limit int) ([]store.Claim, error) {
	s.claims.claiming.RLock()
	defer s.claims.claiming.RUnlock()
	answered := false
	defer func() {
		if !answered {
			s.claims.markUncertain()
		}
	}()
	claims, err := s.store.System().Syncs().ClaimDue(ctx, s.instance, shards, maxPerTenant, limit)
	answered = err == nil
	s.claims.mu.Lock()
	defer s.claims.mu.Unlock()
	if s.claims.ids == nil {
		s.claims.ids = map[connectors.ConnectorID]struct{}{}
	}
	for _, c := range claims {
		s.claims.ids[c.Connector.ID] = struct{}{}
	}
	return claims, err
}

func (h *claimSet) remove(id connectors.ConnectorID) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.ids, id)
}

// markUncertain records that the database may hold claims that the set does not.
func (h *claimSet) markUncertain() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.uncertain = true
}

func (h *claimSet) list() (ids []connectors.ConnectorID, uncertain bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Collect(maps.Keys(h.ids)), h.uncertain
}

func (h *claimSet) markCertain() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.uncertain = false
}

// releaseUnknownClaims releases the claims that the database has for this process and the set does not hold.
func (s *Syncer) releaseUnknownClaims(ctx context.Context) {
	if _, uncertain := s.claims.list(); !uncertain {
		return
	}
	s.claims.claiming.Lock()
	defer s.claims.claiming.Unlock()
	ids, _ := s.claims.list()
	n, err := s.store.System().Syncs().ReleaseUnknownClaims(ctx, s.instance, ids)
	if err != nil {
		return // the next heartbeat tries again
	}
	s.claims.markCertain()
	if n > 0 {
		s.log.InfoContext(ctx, "lost claims released", slog.Int("connectors", n))
	}
}
