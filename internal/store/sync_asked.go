package store

import (
	"context"
	"maps"

	"patchbay/internal/connectors"
)

// recordSync appends the audit entry of a requested run in its transaction; asked nil: none.
func (t *tenant) recordSync(ctx context.Context, asked *Event, run connectors.SyncRun) error {
	if asked == nil {
		return nil
	}
	return t.asTenant().Audit().Record(ctx, asked.withDetail(map[string]any{"sync_run_id": run.ID.String()}))
}

// recordAllSyncs is recordSync for runs of all connectors.
func (t *tenant) recordAllSyncs(ctx context.Context, asked *Event, queued int) error {
	if asked == nil {
		return nil
	}
	return t.asTenant().Audit().Record(ctx, asked.withDetail(map[string]any{"queued": queued}))
}

// withDetail adds more to the event's detail.
func (e Event) withDetail(more map[string]any) Event {
	detail := maps.Clone(e.Detail)
	if detail == nil {
		detail = map[string]any{}
	}
	maps.Copy(detail, more)
	e.Detail = detail
	return e
}
