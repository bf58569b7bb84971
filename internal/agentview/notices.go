package agentview

import (
	"context"
	"sync"

	"github.com/google/uuid"

	"patchbay/internal/connectors"
	"patchbay/internal/safe"
	"patchbay/internal/store"
)

// Watch receives database notices and notifies listeners until ctx ends. A program with other uses for notices
// calls OnNotify, SetConnected and Run itself.
func (c *Cache) Watch(ctx context.Context) {
	var all sync.WaitGroup
	safe.GoIn(&all, safe.Background, func() { safe.RunLoop(ctx, "views", c.Run) })
	_ = c.store.Watch(ctx, c.OnNotify, c.SetConnected)
	all.Wait()
}

// SetConnected sets whether notices arrive. A new connection invalidates everything that was loaded before.
func (c *Cache) SetConnected(connected bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !connected {
		c.generation.Store(0)
		return
	}
	c.generations++
	c.generation.Store(c.generations)
	for _, agents := range c.agents {
		for _, entry := range agents {
			c.dropView(entry) // its notice may be lost
		}
	}
}

// OnNotify drops what a notice names. Only notices of agents, tokens, connectors, tenants and server lists
// matter.
func (c *Cache) OnNotify(n store.ChangeEvent) {
	c.mu.Lock()
	defer c.mu.Unlock()
	id, err := uuid.Parse(n.ID)
	if err != nil {
		return
	}
	switch n.Kind {
	case "agent":
		if entry := c.agents[n.Tenant][connectors.AgentID{UUID: id}]; entry != nil {
			c.dropView(entry)
		}
	case "connector":
		c.dropConnectorViews(n.Tenant, connectors.ConnectorID{UUID: id})
	case "tenant":
		for _, entry := range c.agents[n.Tenant] {
			c.dropView(entry)
		}
	case store.ChangeTools:
		c.forwardChange(n.Tenant, connectors.ConnectorID{UUID: id}, Changed{Tools: true})
	case store.NoticePrompts:
		c.forwardChange(n.Tenant, connectors.ConnectorID{UUID: id}, Changed{Prompts: true})
	case store.NoticeResources:
		c.forwardChange(n.Tenant, connectors.ConnectorID{UUID: id}, Changed{Resources: true})
	case "token":
		c.dropToken(connectors.AgentTokenID{UUID: id})
	}
}

// dropConnectorViews drops the views with a connector. A load in progress may have read its old state.
func (c *Cache) dropConnectorViews(tenant connectors.TenantID, id connectors.ConnectorID) {
	for _, entry := range c.agents[tenant] {
		l := entry.view.Load()
		if l == nil || l.watchedConnectors[id] {
			c.dropView(entry)
		} else if entry.load != nil {
			entry.changeCount++
		}
	}
}

// forwardChange passes a server's list_changed to listeners of that connector. Its effects on lists follow
// after the next sync.
func (c *Cache) forwardChange(tenant connectors.TenantID, id connectors.ConnectorID, change Changed) {
	for _, entry := range c.agents[tenant] {
		v := entry.view.Load()
		if v == nil {
			entry.addPending(id, change)
			c.markDirty(entry)
			continue
		}
		for l := range entry.listeners {
			connector := v.connectors[l.connector]
			if l.connector == "" || connector == nil || connector.Connector.ID != id {
				continue
			}
			if visible := connector.visibleChange(change); visible.hasAny() {
				l.notifyChange(visible)
			}
		}
	}
}

// addPending stores a server notification until the next view is loaded. Cache.mu is held.
func (entry *agentEntry) addPending(id connectors.ConnectorID, change Changed) {
	if len(entry.listeners) == 0 {
		return
	}
	if entry.pending == nil {
		entry.pending = map[connectors.ConnectorID]Changed{}
	}
	entry.pending[id] = entry.pending[id].mergeWith(change)
}

func (c *Cache) dropToken(id connectors.AgentTokenID) {
	c.revocations++
	sum, known := c.tokenHashesByID[id]
	if !known {
		return
	}
	entry := c.tokens[sum].entry
	c.forgetToken(id, sum)
	for l := range entry.listeners {
		if l.token == id {
			l.notifyChange(Changed{AccessEnded: true})
		}
	}
}

// dropView drops an entry's view and marks its listeners for a comparison with the next one.
func (c *Cache) dropView(entry *agentEntry) {
	entry.changeCount++
	c.setView(entry, nil)
	c.markDirty(entry)
}

// markDirty marks an entry if its listeners need a notification.
func (c *Cache) markDirty(entry *agentEntry) {
	if len(entry.listeners) == 0 {
		return
	}
	c.dirty[entry] = true
	select {
	case c.wake <- struct{}{}:
	default:
	}
}
