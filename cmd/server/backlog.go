package main

import (
	"context"

	"patchbay/internal/jobs"
	"patchbay/internal/telemetry"
)

// backlog reads what waits in the database, for the metrics.
func (d *database) backlog(ctx context.Context) (telemetry.Backlog, error) {
	waiting, err := d.store.System().Backlog(ctx)
	if err != nil {
		return telemetry.Backlog{}, err
	}
	counted, err := jobs.Count(ctx, d.pool)
	if err != nil {
		return telemetry.Backlog{}, err
	}
	b := telemetry.Backlog{Due: waiting.Due, Late: waiting.Late, Queued: waiting.Queued, Waited: waiting.Waited, Instances: waiting.Instances}
	for _, j := range counted {
		b.Jobs = append(b.Jobs, telemetry.Jobs{Kind: j.Kind, State: j.State, Count: j.Jobs})
	}
	return b, nil
}
