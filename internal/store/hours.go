package store

import (
	"context"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/store/dbgen"
)

// Figures are what a tenant's calls, syncs and tools were since a time, hour by hour, in one round trip. They cost the same however many
// there were.
func (t *Tenant) Figures(ctx context.Context, since time.Time) (connectors.Figures, error) {
	since = since.UTC().Truncate(time.Hour)
	var calls []dbgen.CallHoursRow
	var syncs []dbgen.SyncHoursRow
	var stats []dbgen.ConnectorStatsRow
	err := t.scope.together(ctx,
		func(q *dbgen.Queries) (err error) { calls, err = q.CallHours(ctx, t.id, since); return err },
		func(q *dbgen.Queries) (err error) { syncs, err = q.SyncHours(ctx, t.id, since); return err },
		func(q *dbgen.Queries) (err error) { stats, err = q.ConnectorStats(ctx, t.id); return err },
	)
	if err != nil {
		return connectors.Figures{}, err
	}
	f := connectors.Figures{Connectors: map[connectors.ConnectorStatus]int{}}
	for _, r := range calls {
		f.Calls = append(f.Calls, callHourOf(r))
	}
	for _, r := range syncs {
		f.Syncs = append(f.Syncs, connectors.SyncHour{Hour: r.Hour.UTC(), OK: int(r.Ok), Failed: int(r.Failed), Tools: int(r.Tools)})
	}
	for _, r := range stats {
		f.Connectors[r.Status] += int(r.Connectors)
		f.Tools += int(r.Tools)
	}
	return f, nil
}

func callHourOf(r dbgen.CallHoursRow) connectors.CallHour {
	h := connectors.CallHour{Hour: r.Hour.UTC(), OK: int(r.Ok), Failed: int(r.Failed), Other: int(r.Other)}
	for i, bucket := range r.Buckets {
		if bucket >= 0 && int(bucket) < len(h.Latencies) {
			h.Latencies[bucket] += int(r.Counts[i])
		}
	}
	return h
}
