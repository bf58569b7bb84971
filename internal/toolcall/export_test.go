package toolcall

import (
	"fmt"

	"patchbay/internal/access"
	"patchbay/internal/connectors"
	"patchbay/internal/store"
)

// NewCallID names a call.
func NewCallID() connectors.ToolCallID { return newCallID() }

// Crowd has n calls of an agent under way, and as many streams.
func (c *Caller) Crowd(agent connectors.AgentID, n int) (leave func()) {
	for range n {
		c.underWay.enter(agent, n)
		c.watching.enter(agent, n)
	}
	return func() {
		for range n {
			c.underWay.leave(agent)
			c.watching.leave(agent)
		}
	}
}

// SaveProgress writes how far calls are, as the process does each second.
func (c *Caller) SaveProgress() { c.saveProgress() }

// UnsavedProgress is of how many calls something is still to be written.
func (c *Caller) UnsavedProgress() int {
	c.progress.mu.Lock()
	defer c.progress.mu.Unlock()
	return len(c.progress.of)
}

// Paced tells whether a call comes too often.
func (c *Caller) Paced(v *access.View, t *access.Tool) error { return c.paced(v, t, c.o.Now()) }

// LetThrough counts a call of each of so many tools.
func (c *Caller) LetThrough(t connectors.TenantID, of connectors.ConnectorID, tools int) {
	for i := range tools {
		name := fmt.Sprintf("tool %d", i)
		b := bounds{{connectors.QuotaName(of, name), store.QuotaOwner{Tenant: t, Connector: of, Tool: name}, connectors.Quota{PerDay: 10}}}
		c.days.take(&b, c.o.Now())
	}
}

// CountedQuotas is of how many quotas something is known to be in the database, and nothing is left to be written.
func (c *Caller) CountedQuotas() (n int) {
	c.days.mu.Lock()
	defer c.days.mu.Unlock()
	for _, d := range c.days.of {
		if d.known > 0 && d.here == 0 {
			n++
		}
	}
	return n
}
