package access

import (
	"context"
	"sync"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
)

// turns lets a few looks of each tenant through at once: they read much, and one tenant's are not to be in the way of another's. The zero
// value works.
type turns struct {
	mu sync.Mutex
	of map[connectors.TenantID]*places // guarded by mu
}

type places struct {
	taken chan struct{}
	users int // who have a place or wait for one; guarded by turns.mu
}

// enter waits for a place, of which a tenant has so many, and no longer than patience. The caller calls leave at its end.
func (t *turns) enter(ctx context.Context, tenant connectors.TenantID, most int, patience time.Duration) (leave func(), err error) {
	p := t.at(tenant, most)
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case p.taken <- struct{}{}:
		return func() { <-p.taken; t.done(tenant, p) }, nil
	case <-timer.C:
	case <-ctx.Done():
	}
	t.done(tenant, p)
	f := fault.Errorf(fault.Unavailable, "Your organisation looks for unused tools %d times at once already. Try again in a moment.", most)
	f.RetryAfter = 5
	return nil, f
}

func (t *turns) at(tenant connectors.TenantID, most int) *places {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.of == nil {
		t.of = map[connectors.TenantID]*places{}
	}
	p := t.of[tenant]
	if p == nil {
		p = &places{taken: make(chan struct{}, most)}
		t.of[tenant] = p
	}
	p.users++
	return p
}

func (t *turns) done(tenant connectors.TenantID, p *places) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if p.users--; p.users == 0 {
		delete(t.of, tenant)
	}
}
