package main

import (
	"context"

	"patchbay/internal/jobs"
	"patchbay/internal/telemetry"
)

// readBacklog reads the database's queues for the metrics.
func (d *database) readBacklog(ctx context.Context) (telemetry.Backlog, error) {
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
