package main

import (
	"context"

	"patchbay/internal/jobs"
)

// startWork makes this process known as alive, which closes the runs of processes that died, and starts the workers of
// queued syncs and the clock of those that are due. stop ends the workers; the syncer ends with the serving.
func (s *serving) startWork(ctx context.Context, d *database, h *house) (stop func() error, err error) {
	if s.database.Embedded() {
		// The lock over the data directory says that no other server can be alive, whatever its last beat was.
		if err := d.store.System().ForgetInstances(ctx); err != nil {
			return nil, err
		}
	}
	if err := h.syncer.Start(ctx); err != nil {
		return nil, err
	}
	runner, err := jobs.New(jobs.Options{
		Pool: d.pool, Listens: d.listens, Syncer: h.syncer, Due: d.store.System().DueShards, Turn: d.store.System().TakeClockTurn, Queued: d.store.System().LongQueued, Log: s.log, Tracer: s.traces.tracer,
		Parts: []jobs.Part{jobs.Webhooks(h.webhooks, d.store.System(), s.log), h.upkeep()},
	})
	if err != nil {
		return nil, err
	}
	if err := runner.Start(context.WithoutCancel(ctx)); err != nil {
		return nil, err
	}
	return func() error {
		stopping, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTime)
		defer cancel()
		return runner.Stop(stopping)
	}, nil
}
