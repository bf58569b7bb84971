package jobs_test

import (
	"testing"

	"patchbay/internal/connectors"
	"patchbay/internal/jobs"
	"patchbay/internal/mcp/mcptest"
	"patchbay/internal/store"
	"patchbay/internal/testing/fixture"
)

// ageQueuedRun makes a run long queued, and its job fetched long ago by a process.
func (b *bundle) ageQueuedRun(t *testing.T, run connectors.SyncRun, by connectors.InstanceID) {
	t.Helper()
	b.AsSystem(t, "update sync_runs set queued_at = now() - interval '1 minute' where id = $1", []any{run.ID.UUID})
	b.AsSystem(t, `update river_job set state = 'running', attempt = 1, attempted_at = now() - interval '1 minute', attempted_by = array[$2]
	               where args ->> 'sync_run_id' = $1`, []any{run.ID.String(), by.String()})
}

func TestJobRescuer_ReplacesALostJob(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	up := mcptest.Start(t, mcptest.Script{Tools: mcptest.Tools(1)})
	killed, lost := b.queue(t, b.addConnector(t, up.URL)), b.queue(t, b.addConnector(t, up.URL))
	b.ageQueuedRun(t, killed, fixture.NewInstance())
	b.ageQueuedRun(t, lost, fixture.NewInstance())
	b.AsSystem(t, "delete from river_job where args ->> 'sync_run_id' = $1", []any{lost.ID.String()})
	events, unwatch := b.sync.Watch(b.Tenant)
	defer unwatch()

	defer stop(t, b.start(t))
	ended := map[connectors.SyncRunID]bool{}
	for len(ended) < 2 {
		if p := <-events; p.Done {
			ended[p.Run] = true
		}
	}
	for _, id := range []connectors.SyncRunID{killed.ID, lost.ID} {
		if run := b.run(t, id); run.State != connectors.SyncOK {
			t.Errorf("run = %+v", run)
		}
	}
}

func TestJobRescuer_LeavesRunsWithLiveJobs(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	working, waiting, fresh := b.queue(t, b.addConnector(t, "http://127.0.0.1:1/")), b.queue(t, b.addConnector(t, "http://127.0.0.1:1/")), b.queue(t, b.addConnector(t, "http://127.0.0.1:1/"))
	b.ageQueuedRun(t, working, b.Instance)
	b.AsSystem(t, "update sync_runs set queued_at = now() - interval '1 minute' where id = $1", []any{waiting.ID.UUID})
	b.AsSystem(t, "delete from river_job where args ->> 'sync_run_id' = $1", []any{fresh.ID.String()}) // its transaction has just committed
	r, err := jobs.New(jobs.Options{Pool: b.Pool, ListenPool: b.Pool, Syncer: b.sync, Due: b.St.System().Syncs().DueShards, Queued: b.St.System().Syncs().LongQueued})
	if err != nil {
		t.Fatal(err)
	}
	if n, err := r.RescueOnce(t.Context()); n != 0 || err != nil {
		t.Errorf("%d jobs inserted, %v", n, err)
	}
	if _, err := b.Door().Syncs().Start(t.Context(), store.SyncStart{NewRun: store.NewRun{ConnectorID: working.ConnectorID}, Run: &working.ID, Instance: b.Instance}); err != nil {
		t.Fatal(err)
	}
	b.AsSystem(t, "update river_job set attempted_by = array[gen_random_uuid()::text] where args ->> 'sync_run_id' = $1", []any{working.ID.String()})
	if n, err := r.RescueOnce(t.Context()); n != 0 || err != nil {
		t.Errorf("%d jobs inserted for a run that has begun, %v", n, err)
	}
}
