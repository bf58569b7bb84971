package toolcall

import (
	"context"

	"patchbay/internal/connectors"
)

// maxUndelivered bounds concurrent marks. Further results stay recorded as delivered.
const maxUndelivered = 1000

// MarkUndelivered records in the background that the client did not receive the result.
func (c *Executor) MarkUndelivered(t connectors.TenantID, id connectors.ToolCallID) {
	c.recorder.markUndelivered(t, id)
}

func (rec *callRecorder) markUndelivered(t connectors.TenantID, id connectors.ToolCallID) {
	if rec.undelivered.Add(1) > maxUndelivered {
		rec.undelivered.Add(-1)
		return
	}
	started := rec.running.runBackground(func(ctx context.Context) {
		defer rec.undelivered.Add(-1)
		rec.o.History.Flush(ctx) // the end of the call must be stored first
		rec.o.logUnsaved(ctx, rec.o.Store.Tenant(t).Calls().MarkUndelivered(ctx, id))
	})
	if !started {
		rec.undelivered.Add(-1)
	}
}
