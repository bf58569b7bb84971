package store

import (
	"context"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/store/dbgen"
)

// Figures returns a tenant's calls, syncs and tools per hour since a time, in one round trip of constant cost.
// It starts at the usage mark if that is later.
func (t Calls) Figures(ctx context.Context, since time.Time) (connectors.Figures, error) {
	since = since.UTC().Truncate(time.Hour)
	var calls []dbgen.CallHoursRow
	var syncs []dbgen.SyncHoursRow
	var stats []dbgen.ConnectorStatsRow
	var marks []dbgen.UsageMark
	err := t.scope.runReadBatch(ctx,
		func(q *dbgen.Queries) (err error) { calls, err = q.CallHours(ctx, t.id, since); return err },
		func(q *dbgen.Queries) (err error) { syncs, err = q.SyncHours(ctx, t.id, since); return err },
		func(q *dbgen.Queries) (err error) { marks, err = q.UsageMark(ctx, t.id); return err },
		func(q *dbgen.Queries) (err error) { stats, err = q.ConnectorStats(ctx, t.id); return err },
	)
	if err != nil {
		return connectors.Figures{}, err
	}
	f := connectors.Figures{Connectors: map[connectors.ConnectorStatus]int{}}
	for _, r := range calls {
		f.Calls = append(f.Calls, toCallHour(r))
	}
	for _, r := range syncs {
		f.Syncs = append(f.Syncs, connectors.SyncHour{Hour: r.Hour.UTC(), OK: int(r.Ok), Failed: int(r.Failed), Tools: int(r.Tools)})
	}
	for _, r := range stats {
		f.Connectors[connectors.ConnectorStatus(r.Status)] += int(r.Connectors)
		f.Tools += int(r.Tools)
	}
	if len(marks) > 0 {
		f = f.From(toUsageMark(marks[0]))
	}
	return f, nil
}

func toUsageMark(r dbgen.UsageMark) connectors.UsageMark {
	hour := r.Hour.UTC()
	m := connectors.UsageMark{
		Since: r.Since.UTC(),
		Calls: toCallHour(dbgen.CallHoursRow{Hour: hour, Ok: int64(r.Ok), Failed: int64(r.Failed), Other: int64(r.Other), Buckets: r.Buckets, Counts: r.Counts}),
	}
	m.Syncs = connectors.SyncHour{Hour: hour, OK: int(r.SyncsOk), Failed: int(r.SyncsFailed)}
	return m
}

// MarkUsage restarts the figures at a time in the current hour. Nothing is deleted: the hour's figures up to
// then are stored.
func (t Calls) MarkUsage(ctx context.Context, since time.Time) error {
	since = since.UTC()
	p := dbgen.MarkUsageParams{TenantID: t.id, Since: since, Hour: since.Truncate(time.Hour), Buckets: []int16{}, Counts: []int32{}}
	return t.ensureTx(ctx, func(tx *Tenant) error {
		calls, err := tx.q.CallHours(ctx, tx.id, p.Hour)
		if err != nil {
			return err
		}
		syncs, err := tx.q.SyncHours(ctx, tx.id, p.Hour)
		if err != nil {
			return err
		}
		if len(calls) > 0 && calls[0].Hour.Equal(p.Hour) {
			p.Ok, p.Failed, p.Other = int32(calls[0].Ok), int32(calls[0].Failed), int32(calls[0].Other)
			p.Buckets, p.Counts = calls[0].Buckets, calls[0].Counts
		}
		if len(syncs) > 0 && syncs[0].Hour.Equal(p.Hour) {
			p.SyncsOk, p.SyncsFailed = int32(syncs[0].Ok), int32(syncs[0].Failed)
		}
		return tx.q.MarkUsage(ctx, p)
	})
}

func toCallHour(r dbgen.CallHoursRow) connectors.CallHour {
	h := connectors.CallHour{Hour: r.Hour.UTC(), OK: int(r.Ok), Failed: int(r.Failed), Other: int(r.Other)}
	for i, bucket := range r.Buckets {
		if bucket >= 0 && int(bucket) < len(h.Latencies) {
			h.Latencies[bucket] += int(r.Counts[i])
		}
	}
	return h
}
