package upstream

import (
	"context"

	"patchbay/internal/connectors"
)

// acquireSlot reserves a slot. While it waits, idle programs end: those of the tenant if it has as many as one may have,
// else those of any tenant.
func (p *Pool) acquireSlot(ctx context.Context, w *SessionRequest) (release func(), err error) {
	done := func() {}
	defer func() { done() }()
	return p.o.AcquireSlot(ctx, w.Tenant, w.Connector, func(ofTenant bool) {
		var of connectors.TenantID // zero: any
		if ofTenant {
			of = w.Tenant
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		p.slotWaiters[of]++
		done = func() {
			p.mu.Lock()
			defer p.mu.Unlock()
			if p.slotWaiters[of]--; p.slotWaiters[of] == 0 {
				delete(p.slotWaiters, of)
			}
		}
		p.retireIdle(p.isAwaited)
	})
}

// isAwaited reports whether an opening waits for the slot of an entry. The caller holds mu.
func (p *Pool) isAwaited(e *entry) bool {
	return len(p.slotWaiters) > 0 && e.request.Connector.Transport == connectors.TransportStdio &&
		(p.slotWaiters[e.key.tenant] > 0 || p.slotWaiters[connectors.TenantID{}] > 0)
}
