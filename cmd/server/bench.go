package main

import (
	"context"

	"patchbay/internal/jobs"
	"patchbay/internal/operator"
)

// newBenchServer returns the parts of the server that a benchmark measures.
func newBenchServer() operator.BenchServer {
	return operator.BenchServer{SetGCPercent: setGCPercent, StartJobs: startBenchJobs}
}

// startBenchJobs starts the workers of syncs and the scheduler, as serve does. stop is set if some may have
// started.
func startBenchJobs(ctx context.Context, o operator.BenchJobs) (stop func(context.Context) error, err error) {
	system := o.Store.System()
	runner, err := jobs.New(jobs.Options{
		Pool: o.Pool, ListenPool: o.Pool, Syncer: o.Syncer, Due: system.Syncs().DueShards, Turn: system.Syncs().ClaimClockTick, Log: o.Log,
	})
	if err != nil {
		return nil, err
	}
	return runner.Stop, runner.Start(ctx)
}
