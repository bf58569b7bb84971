package main

import (
	"context"

	"patchbay/internal/installation"
	"patchbay/internal/queue"
	"patchbay/internal/telemetry"
)

// readBacklog reads the database's queues for the metrics.
func readBacklog(ctx context.Context, d *installation.Database) (telemetry.Backlog, error) {
	waiting, err := d.Store.System().Backlog(ctx)
	if err != nil {
		return telemetry.Backlog{}, err
	}
	counted, err := queue.CountJobs(ctx, d.Pool)
	if err != nil {
		return telemetry.Backlog{}, err
	}
	b := telemetry.Backlog{Due: waiting.Due, Late: waiting.Late, Queued: waiting.Queued, Waited: waiting.Waited, Instances: waiting.Instances}
	for _, j := range counted {
		b.Jobs = append(b.Jobs, telemetry.Jobs{Kind: j.Kind, State: j.State, Count: j.Jobs})
	}
	return b, nil
}
