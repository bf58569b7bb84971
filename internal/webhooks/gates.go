package webhooks

import (
	"net/url"
	"strings"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/limit"
)

const (
	maxPerHost   = 4 // concurrent tries to one host
	maxPerTenant = 8 // concurrent tries of one tenant
	// slotWait is the delay of a delivery without a slot, before jitter.
	slotWait = 5 * time.Second
)

// gates bound the concurrent tries of this process, so that a hung receiver holds only its own slots.
type gates struct {
	hosts   *limit.Gate[string]
	tenants *limit.Gate[connectors.TenantID]
}

func newGates() gates {
	return gates{limit.NewGate[string](maxPerHost, 0), limit.NewGate[connectors.TenantID](maxPerTenant, 0)}
}

// tryAcquire takes a slot of the host and the tenant; ok is false if either has none.
func (g gates) tryAcquire(tenant connectors.TenantID, host string) (release func(), ok bool) {
	if !g.hosts.TryAcquire(host) {
		return nil, false
	}
	if !g.tenants.TryAcquire(tenant) {
		g.hosts.Release(host)
		return nil, false
	}
	return func() { g.tenants.Release(tenant); g.hosts.Release(host) }, true
}

// hostName returns the host of a URL without its port.
func hostName(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return raw
	}
	return strings.ToLower(u.Hostname())
}
