package jobs_test

import (
	"context"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"

	"patchbay/internal/connectors"
	"patchbay/internal/credentials"
	"patchbay/internal/jobs"
	"patchbay/internal/mcp/mcptest"
	"patchbay/internal/queue"
	"patchbay/internal/safehttp"
	"patchbay/internal/store"
	"patchbay/internal/testing/fixture"
	"patchbay/internal/toolsync"
)

// insertRunningJob inserts a job that a process has worked since a while ago, and returns its id.
func (b *bundle) insertRunningJob(t *testing.T, args river.JobArgs, by connectors.InstanceID, ago time.Duration, attempt int) int64 {
	t.Helper()
	client, err := river.NewClient(riverpgxv5.New(b.Pool), &river.Config{})
	if err != nil {
		t.Fatal(err)
	}
	made, err := client.Insert(t.Context(), args, nil)
	if err != nil {
		t.Fatal(err)
	}
	_, err = b.Pool.Exec(t.Context(), `
		update river_job
		set state = 'running', attempt = $2, attempted_at = now() - make_interval(secs => $3), attempted_by = array['older', $4]
		where id = $1`, made.Job.ID, attempt, ago.Seconds(), by.String())
	if err != nil {
		t.Fatal(err)
	}
	return made.Job.ID
}

func TestJobRescuer_FreesJobsOfDeadProcesses(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	dead := fixture.NewInstance()
	states := map[int64]string{
		b.insertRunningJob(t, queue.SweepHistory{}, dead, time.Minute, 1):   "available",
		b.insertRunningJob(t, queue.RenewIdle{}, dead, time.Minute, 3):      "discarded", // last attempt
		b.insertRunningJob(t, queue.SweepExpired{}, dead, time.Second, 1):   "running",   // fetched too recently
		b.insertRunningJob(t, queue.CheckAudit{}, b.Instance, time.Hour, 1): "running",
	}
	r, err := jobs.New(jobs.Options{Pool: b.Pool, ListenPool: b.Pool, Syncer: b.sync, Due: b.St.System().Syncs().DueShards, Queued: b.St.System().Syncs().LongQueued})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := r.RescueOnce(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	got := map[int64]string{}
	for id := range states {
		var state string
		if err := b.Pool.QueryRow(t.Context(), "select state from river_job where id = $1", id).Scan(&state); err != nil {
			t.Fatal(err)
		}
		got[id] = state
	}
	if diff := cmp.Diff(states, got); diff != "" {
		t.Error(diff)
	}
}

func TestJobRescuer_UnregisteredProcessFreesNothing(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	id := b.insertRunningJob(t, queue.SweepHistory{}, fixture.NewInstance(), time.Minute, 1)
	silent := toolsync.New(toolsync.Options{
		Store: b.St, Credentials: credentials.New(b.St), Egress: safehttp.New(safehttp.Options{Mode: safehttp.Local}), Instance: fixture.NewInstance(),
	})
	r, err := jobs.New(jobs.Options{Pool: b.Pool, ListenPool: b.Pool, Syncer: silent, Due: b.St.System().Syncs().DueShards, Queued: b.St.System().Syncs().LongQueued})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.RescueOnce(t.Context()); err != nil {
		t.Fatal(err)
	}
	var state string
	if err := b.Pool.QueryRow(t.Context(), "select state from river_job where id = $1", id).Scan(&state); err != nil || state != "running" {
		t.Errorf("the job is %s, %v", state, err)
	}
}

// wantRestarted waits for the connector's second run and compares it with the interrupted one.
func (b *bundle) wantRestarted(t *testing.T, s *toolsync.Syncer, events <-chan toolsync.Progress, cut connectors.SyncRun) {
	t.Helper()
	for late := time.After(patience); ; {
		select {
		case p := <-events:
			if !p.Done || p.Run == cut.ID {
				continue
			}
		case <-late:
			t.Fatal("it is not performed anew")
		}
		break
	}
	runs, err := b.Door().Syncs().List(t.Context(), cut.ConnectorID, store.Page{})
	if err != nil || len(runs.Items) != 2 {
		t.Fatalf("runs = %+v, %v", runs.Items, err)
	}
	if anew := runs.Items[0]; anew.State != connectors.SyncOK || anew.Trigger != cut.Trigger || anew.Counts.Added != 1 {
		t.Errorf("anew: %+v", anew)
	}
	if first := runs.Items[1]; first.ID != cut.ID || first.ErrorCode != toolsync.CodeInterrupted {
		t.Errorf("what was cut off: %+v", first)
	}
	if err := s.RestartInterrupted(t.Context(), b.Tenant, cut.ID); err != nil {
		t.Error(err)
	}
	if runs, err = b.Door().Syncs().List(t.Context(), cut.ConnectorID, store.Page{}); err != nil || len(runs.Items) != 2 {
		t.Errorf("once more, though it was synced: %+v, %v", runs.Items, err)
	}
}

func TestSyncTools_RestartsAfterItsProcessDied(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	up := mcptest.Start(t, mcptest.Script{Tools: mcptest.Tools(1)})
	dead := fixture.NewInstance()
	run := b.queue(t, b.addConnector(t, up.URL))
	if _, err := b.Door().Syncs().Start(t.Context(), store.SyncStart{NewRun: store.NewRun{ConnectorID: run.ConnectorID}, Run: &run.ID, Instance: dead}); err != nil {
		t.Fatal(err)
	}
	b.ageQueuedRun(t, run, dead)
	if err := b.St.System().Syncs().Heartbeat(t.Context(), b.Instance); err != nil { // ends the runs of dead processes
		t.Fatal(err)
	}
	events, unwatch := b.sync.Watch(b.Tenant)
	defer unwatch()
	defer stop(t, b.start(t))
	b.wantRestarted(t, b.sync, events, run)
}

func TestSyncTools_RestartsAfterItsProcessStopped(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	var asked atomic.Int32
	first := make(chan struct{})
	up := mcptest.Start(t, mcptest.Script{On: map[string]mcptest.Handler{"tools/list": func(w http.ResponseWriter, r *http.Request, c mcptest.Call) {
		if asked.Add(1) == 1 {
			close(first)
			mcptest.Hang(w, r, c)
			return
		}
		mcptest.ListResult(mcptest.Tool("search"))(w, r, c)
	}}})
	r := b.start(t)
	run := b.queue(t, b.addConnector(t, up.URL))
	<-first
	over, cancel := context.WithCancel(t.Context())
	cancel()
	b.sync.Stop(over)
	stop(t, r)

	next := toolsync.New(toolsync.Options{
		Store: b.St, Credentials: credentials.New(b.St), Egress: safehttp.New(safehttp.Options{Mode: safehttp.Local}), Instance: fixture.NewInstance(),
	})
	if err := next.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer next.Stop(t.Context())
	events, unwatch := next.Watch(b.Tenant)
	defer unwatch()
	defer stop(t, (&bundle{World: b.World, sync: next}).start(t))
	b.wantRestarted(t, next, events, run)
}
