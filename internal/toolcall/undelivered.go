package toolcall

import (
	"context"

	"patchbay/internal/connectors"
)

// maxUndelivered bounds concurrent marks. Further results stay recorded as delivered.
const maxUndelivered = 1000

// MarkUndelivered records in the background that the client did not receive the result.
func (c *Executor) MarkUndelivered(t connectors.TenantID, id connectors.ToolCallID) {
	if c.undelivered.Add(1) > maxUndelivered {
		c.undelivered.Add(-1)
		return
	}
	started := c.running.runBackground(func(ctx context.Context) {
		defer c.undelivered.Add(-1)
		c.o.History.Flush(ctx) // the end of the call must be stored first
		c.o.logUnsaved(ctx, c.o.Store.Tenant(t).MarkUndelivered(ctx, id))
	})
	if !started {
		c.undelivered.Add(-1)
	}
}
