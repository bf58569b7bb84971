package webhooks

import (
	"net/url"
	"strings"
	"sync"
	"time"

	"patchbay/internal/connectors"
)

const (
	perHost   = 4 // tries under way at one host
	perTenant = 8 // tries under way of one tenant
	// full is how long a delivery waits for a place, at least; as long again by chance.
	full = 5 * time.Second
)

// places are taken by tries under way in this process. A receiver that hangs keeps its own, and leaves the others'.
type places struct {
	mu      sync.Mutex
	hosts   map[string]int              // guarded by mu
	tenants map[connectors.TenantID]int // guarded by mu
}

func newPlaces() *places {
	return &places{hosts: map[string]int{}, tenants: map[connectors.TenantID]int{}}
}

// take takes a place until leave is called. It is false where the host or the tenant has none left.
func (p *places) take(tenant connectors.TenantID, host string) (leave func(), ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.hosts[host] >= perHost || p.tenants[tenant] >= perTenant {
		return nil, false
	}
	p.hosts[host]++
	p.tenants[tenant]++
	return sync.OnceFunc(func() { p.leave(tenant, host) }), true
}

func (p *places) leave(tenant connectors.TenantID, host string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.hosts[host]--; p.hosts[host] == 0 {
		delete(p.hosts, host)
	}
	if p.tenants[tenant]--; p.tenants[tenant] == 0 {
		delete(p.tenants, tenant)
	}
}

// hostOf names the host of an address, whatever port of it.
func hostOf(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return raw
	}
	return strings.ToLower(u.Hostname())
}
