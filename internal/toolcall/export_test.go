package toolcall

import (
	"context"
	"encoding/json"
	"fmt"

	"patchbay/internal/agentview"
	"patchbay/internal/connectors"
	"patchbay/internal/shaping"
	"patchbay/internal/store"
)

// HoldSlots takes n slots of an agent for calls and for streams.
func (c *Executor) HoldSlots(agent connectors.AgentID, n int) (release func()) {
	for range n {
		c.limits.inFlight.TryAcquire(agent)
		c.sender.watches.TryAcquire(agent)
	}
	return func() {
		for range n {
			c.limits.inFlight.Release(agent)
			c.sender.watches.Release(agent)
		}
	}
}

// SaveProgress saves progress as the loop does.
func (c *Executor) SaveProgress() { c.progress.saveProgress(c.running.baseCtx) }

// UnsavedProgress is the number of calls with unsaved progress.
func (c *Executor) UnsavedProgress() int {
	c.progress.queue.mu.Lock()
	defer c.progress.queue.mu.Unlock()
	return len(c.progress.queue.byCall)
}

// Paced applies the limits of a call.
func (c *Executor) Paced(v *agentview.View, t *agentview.Tool) error {
	return c.limits.applyLimits(v, t, c.o.Now())
}

// LetThrough counts one call of each of so many tools.
func (c *Executor) LetThrough(t connectors.TenantID, of connectors.ConnectorID, tools int) {
	for i := range tools {
		name := fmt.Sprintf("tool %d", i)
		b := callQuotas{{connectors.QuotaName(of, name), store.QuotaOwner{Tenant: t, Connector: of, Tool: name}, connectors.Quota{PerDay: 10}}}
		c.limits.dayQuotas.takeCall(&b, c.o.Now())
	}
}

// CountedQuotas is the number of quotas without unwritten counts.
func (c *Executor) CountedQuotas() (n int) {
	c.limits.dayQuotas.mu.Lock()
	defer c.limits.dayQuotas.mu.Unlock()
	for _, d := range c.limits.dayQuotas.byKey {
		if d.total > 0 && d.unsaved == 0 {
			n++
		}
	}
	return n
}

// HoldAnswers takes the places of a tenant for work on long answers.
func (c *Executor) HoldAnswers(t connectors.TenantID) (release func(), taken int) {
	for c.shaper.work.TryAcquire(t) {
		taken++
	}
	return func() {
		for range taken {
			c.shaper.work.Release(t)
		}
	}, taken
}

// ShapeRaw applies a rule to an answer as ShapeAnswer does.
func (c *Executor) ShapeRaw(ctx context.Context, rule shaping.Rule, raw json.RawMessage) (shaping.Shaped, bool) {
	return c.shaper.applyRule(ctx, rule, raw, shaping.Notice{})
}
