package agentview

import (
	"cmp"
	"slices"

	"patchbay/internal/connectors"
)

// evictViews drops the least recently used views, except one entry's, until a quarter of the budget is free.
func (c *Cache) evictViews(except *agentEntry) {
	var all []*agentEntry
	for _, agents := range c.agents {
		for _, entry := range agents {
			if entry != except && entry.view.Load() != nil {
				all = append(all, entry)
			}
		}
	}
	slices.SortFunc(all, func(a, b *agentEntry) int { return cmp.Compare(a.lastUsed.Load(), b.lastUsed.Load()) })
	for _, entry := range all {
		if c.bytes <= c.maxBytes-c.maxBytes/4 {
			return
		}
		c.setView(entry, nil)
	}
}

// dropUnlistened drops all views and tokens, and every entry without listeners.
func (c *Cache) dropUnlistened() {
	old := c.agents
	for _, agents := range old {
		for _, entry := range agents {
			entry.changeCount++ // discards a load that is under way
			c.setView(entry, nil)
		}
	}
	c.resetEntries()
	for tenant, agents := range old {
		for id, entry := range agents {
			if len(entry.listeners) == 0 {
				continue
			}
			if c.agents[tenant] == nil {
				c.agents[tenant] = map[connectors.AgentID]*agentEntry{}
			}
			c.agents[tenant][id] = entry
			c.entryCount++
		}
	}
}
