package toolsync

import (
	"sync"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
)

// maxTests is how many tests of a connection a tenant may have under way. Each may take half an hour, and hold a tool list of
// 64 MiB in memory; a sync is bounded by its connector, of which one runs at a time.
const maxTests = 4

// crowd counts the tests that are under way. The zero value works.
type crowd struct {
	mu sync.Mutex
	in map[connectors.TenantID]int // guarded by mu; no zeros
}

// enter lets a tenant's test begin, or refuses it. The caller calls leave at its end.
func (c *crowd) enter(tenant connectors.TenantID) (leave func(), err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.in[tenant] >= maxTests {
		f := fault.Errorf(fault.RateLimited, "%d tests of connections are running already. Wait until one ends, and try again.", maxTests)
		f.RetryAfter = 5
		return nil, f
	}
	if c.in == nil {
		c.in = map[connectors.TenantID]int{}
	}
	c.in[tenant]++
	return func() { c.leave(tenant) }, nil
}

func (c *crowd) leave(tenant connectors.TenantID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.in[tenant]--; c.in[tenant] == 0 {
		delete(c.in, tenant)
	}
}
