package toolcall

import (
	"context"

	"patchbay/internal/connectors"
)

// mostUndelivered bounds the answers that wait to be put on record as lost. What is more stands in the history as answered.
const mostUndelivered = 1000

// Undelivered puts on record that the agent's client did not take the answer of a call that has ended. It does not wait.
func (c *Caller) Undelivered(t connectors.TenantID, id connectors.ToolCallID) {
	if c.undelivered.Add(1) > mostUndelivered {
		c.undelivered.Add(-1)
		return
	}
	begun := c.besides(func(ctx context.Context) {
		defer c.undelivered.Add(-1)
		c.o.History.Written(ctx) // the call's end comes first
		c.logUnsaved(ctx, c.o.Store.Tenant(t).MarkUndelivered(ctx, id))
	})
	if !begun {
		c.undelivered.Add(-1)
	}
}
