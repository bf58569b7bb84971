package store

import (
	"context"
	"maps"

	"patchbay/internal/connectors"
)

// recordSync appends that somebody asked for a run, in the transaction that makes it. Nobody did: asked is nil.
func (t *Tenant) recordSync(ctx context.Context, asked *Event, run connectors.SyncRun) error {
	if asked == nil {
		return nil
	}
	return t.Record(ctx, asked.also(map[string]any{"sync_run_id": run.ID.String()}))
}

// recordAllSyncs is the same for the runs of all connectors.
func (t *Tenant) recordAllSyncs(ctx context.Context, asked *Event, queued int) error {
	if asked == nil {
		return nil
	}
	return t.Record(ctx, asked.also(map[string]any{"queued": queued}))
}

// also is the event with more in its detail.
func (e Event) also(more map[string]any) Event {
	detail := maps.Clone(e.Detail)
	if detail == nil {
		detail = map[string]any{}
	}
	maps.Copy(detail, more)
	e.Detail = detail
	return e
}
