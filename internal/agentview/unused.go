package agentview

import (
	"context"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/store"
)

// UnusedTools lists an agent's tools without calls since a time.
type UnusedTools struct {
	View      *View
	Since     time.Time
	Tools     []*Tool // visible, callable all the time since then, and not called
	TooRecent int     // visible, but granted or listed only since then
	Use       store.ToolUse
}

const (
	maxUnused  = 2 // concurrent queries per tenant; each reads weeks of calls
	unusedWait = 2 * time.Second
)

// Unused finds tools that an agent sees and has not called since. It changes nothing. A tenant has two queries
// at once; others fail as Unavailable after two seconds.
func (c *Cache) Unused(ctx context.Context, tenant connectors.TenantID, agent connectors.Ref, since time.Time) (UnusedTools, error) {
	if err := c.acquireUnusedSlot(ctx, tenant); err != nil {
		return UnusedTools{}, err
	}
	defer c.unusedGate.Release(tenant)
	var view *View
	var use store.ToolUse
	err := c.store.Tenant(tenant).Snapshot(ctx, func(tx *store.Tenant) error {
		found, err := tx.Agents().Get(ctx, agent)
		if err != nil {
			return err
		}
		if view, err = c.LoadFrom(ctx, tx.Agents(), found.ID); err != nil {
			return err
		}
		use, err = tx.Tools().Use(ctx, found.ID, since)
		return err
	})
	if err != nil {
		return UnusedTools{}, err
	}
	return view.findUnused(use, since), nil
}

// acquireUnusedSlot waits for a slot of unusedGate, which the caller releases.
func (c *Cache) acquireUnusedSlot(ctx context.Context, tenant connectors.TenantID) error {
	ctx, cancel := context.WithTimeout(ctx, unusedWait)
	defer cancel()
	if c.unusedGate.Acquire(ctx, tenant) == nil {
		return nil
	}
	f := fault.Errorf(fault.Unavailable, "%d searches for unused tools are running. Try again in a moment.", maxUnused)
	f.RetryAfter = 5
	return f
}

func (v *View) findUnused(use store.ToolUse, since time.Time) UnusedTools {
	u := UnusedTools{View: v, Since: since, Use: use}
	counted := map[store.ToolKey]bool{}
	for _, t := range v.Tools {
		key := store.ToolKey{ConnectorID: t.Connector.Connector.ID, Tool: t.Name}
		switch _, called := use.Called[key]; {
		case called, counted[key]: // with one of several accounts
		case use.New[key] || t.Connector.Grant.CreatedAt.After(since):
			u.TooRecent++
		default:
			u.Tools = append(u.Tools, t)
			counted[key] = true
		}
	}
	return u
}
