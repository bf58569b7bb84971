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

// held knows the connectors that this process has claimed. Where the answer to a claim was lost, the database knows of more. The zero
// value works.
type held struct {
	claiming sync.RWMutex // read while a claim is under way

	mu    sync.Mutex // guards what follows
	all   map[connectors.ConnectorID]struct{}
	doubt bool // an answer was lost
}

// claim claims what is due, and remembers it.
func (s *Syncer) claim(ctx context.Context, shards []int, most int) ([]store.Claim, error) {
	s.held.claiming.RLock()
	defer s.held.claiming.RUnlock()
	answered := false
	defer func() {
		if !answered {
			s.held.doubtful()
		}
	}()
	claims, err := s.store.System().ClaimDue(ctx, s.instance, shards, perTenant, most)
	answered = err == nil
	s.held.mu.Lock()
	defer s.held.mu.Unlock()
	if s.held.all == nil {
		s.held.all = map[connectors.ConnectorID]struct{}{}
	}
	for _, c := range claims {
		s.held.all[c.Connector.ID] = struct{}{}
	}
	return claims, err
}

func (h *held) forget(id connectors.ConnectorID) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.all, id)
}

// doubtful: the database may know of claims that this process does not.
func (h *held) doubtful() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.doubt = true
}

// known are the claimed connectors, where an answer was lost.
func (h *held) known() (ids []connectors.ConnectorID, doubt bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Collect(maps.Keys(h.all)), h.doubt
}

func (h *held) sure() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.doubt = false
}

// releaseForgotten gives free what the database says that this process has, and it does not know of.
func (s *Syncer) releaseForgotten(ctx context.Context) {
	if _, doubt := s.held.known(); !doubt {
		return
	}
	s.held.claiming.Lock()
	defer s.held.claiming.Unlock()
	known, _ := s.held.known()
	n, err := s.store.System().ReleaseForgotten(ctx, s.instance, known)
	if err != nil {
		return // the next beat tries again
	}
	s.held.sure()
	if n > 0 {
		s.log.InfoContext(ctx, "claims whose answer was lost are free again", slog.Int("connectors", n))
	}
}
