package main

import (
	"context"
	"sync"

	"patchbay/internal/installation"
	"patchbay/internal/jobs"
	"patchbay/internal/safe"
)

// startJobs registers this process, which closes the runs of processes that died, and starts the workers of
// queued syncs, the scheduler and the audit streams. stop ends the workers; the syncer ends with ctx.
func (s *serverRun) startJobs(ctx context.Context, d *installation.Database, h *app) (stop func() error, err error) {
	if s.database.Embedded() {
		// The lock on the data directory proves that no other server is alive, whatever its last heartbeat was.
		if err := d.Store.System().Syncs().CloseAllInstances(ctx); err != nil {
			return nil, err
		}
	}
	if err := h.syncer.Start(ctx); err != nil {
		return nil, err
	}
	runner, err := jobs.New(jobs.Options{
		Pool: d.Pool, ListenPool: d.ListenPool, Syncer: h.syncer, Due: d.Store.System().Syncs().DueShards, Turn: d.Store.System().Syncs().ClaimClockTick, Queued: d.Store.System().Syncs().LongQueued, Log: s.log, Tracer: s.traces.tracer,
		Parts: []jobs.Module{jobs.Webhooks(h.webhooks, d.Store.System(), s.log), jobs.Mail(h.mailing), h.maintenanceJobs()},
	})
	if err != nil {
		return nil, err
	}
	if err := runner.Start(context.WithoutCancel(ctx)); err != nil {
		return nil, err
	}
	h.streams.Start(ctx)
	return func() error {
		stopping, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTimeout)
		defer cancel()
		var streams sync.WaitGroup // at once: a receiver that hangs must not use up the time of the jobs
		safe.GoIn(&streams, safe.Background, func() { h.streams.Stop(stopping) })
		err := runner.Stop(stopping)
		streams.Wait()
		return err
	}, nil
}
