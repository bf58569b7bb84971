package jobs_test

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"

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

// patience bounds the wait for a worker: other packages' tests may load both cores.
const patience = 2 * time.Minute

type bundle struct {
	*fixture.World
	sync *toolsync.Syncer
}

func newBundle(t *testing.T) *bundle {
	t.Helper()
	w := fixture.New(t)
	s := toolsync.New(toolsync.Options{
		Store: w.St, Credentials: credentials.New(w.St), Egress: safehttp.New(safehttp.Options{Mode: safehttp.Local}), Instance: w.Instance,
	})
	if err := s.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Stop(t.Context()) })
	return &bundle{World: w, sync: s}
}

// start works jobs until the test ends.
func (b *bundle) start(t *testing.T) *jobs.Runner {
	t.Helper()
	r, err := jobs.New(jobs.Options{Pool: b.Pool, ListenPool: b.Pool, Syncer: b.sync, Due: b.St.System().Syncs().DueShards, Queued: b.St.System().Syncs().LongQueued})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	return r
}

func stop(t *testing.T, r *jobs.Runner) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), patience)
	defer cancel()
	if err := r.Stop(ctx); err != nil {
		t.Errorf("stop: %v", err)
	}
}

func (b *bundle) addConnector(t *testing.T, url string) connectors.Connector {
	t.Helper()
	return b.Connector(t, func(d *connectors.Draft) { d.URL, d.RetryAttempts = url, 0 })
}

func (b *bundle) queue(t *testing.T, c connectors.Connector) connectors.SyncRun {
	t.Helper()
	run, err := b.sync.Queue(t.Context(), b.Tenant, toolsync.Request{Connector: connectors.Ref(c.Slug), Trigger: connectors.TriggerAPI})
	if err != nil {
		t.Fatal(err)
	}
	if run.State != connectors.SyncQueued {
		t.Errorf("queued run = %+v", run)
	}
	return run
}

func (b *bundle) run(t *testing.T, id connectors.SyncRunID) connectors.SyncRun {
	t.Helper()
	run, err := b.Door().Syncs().Get(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return run
}

// work gives the run's job to a worker, as the given attempt of five.
func (b *bundle) work(t *testing.T, run connectors.SyncRun, attempt int) error {
	t.Helper()
	args := queue.SyncTools{TenantID: b.Tenant.UUID, ConnectorID: run.ConnectorID.UUID, SyncRunID: run.ID.UUID}
	return jobs.NewSyncToolsWorker(b.sync).Work(t.Context(), &river.Job[queue.SyncTools]{
		JobRow: &rivertype.JobRow{Attempt: attempt, MaxAttempts: args.InsertOpts().MaxAttempts}, Args: args,
	})
}

func TestSyncTools_PerformsQueuedRuns(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	up := mcptest.Start(t, mcptest.Script{Tools: mcptest.Tools(3)})
	first := b.queue(t, b.addConnector(t, up.URL)) // queued before the workers start
	events, unwatch := b.sync.Watch(b.Tenant)
	defer unwatch()

	r := b.start(t)
	defer stop(t, r)
	waitDone(t, events, first.ID)
	second := b.queue(t, b.addConnector(t, up.URL)) // announced to them
	waitDone(t, events, second.ID)

	for _, id := range []connectors.SyncRunID{first.ID, second.ID} {
		run := b.run(t, id)
		if run.State != connectors.SyncOK || run.Counts.Total != 3 || run.Trigger != connectors.TriggerAPI {
			t.Errorf("run = %+v", run)
		}
	}
}

func waitDone(t *testing.T, events <-chan toolsync.Progress, id connectors.SyncRunID) {
	t.Helper()
	late := time.After(patience)
	for {
		select {
		case p := <-events:
			if p.Done && p.Run == id {
				return
			}
		case <-late:
			t.Fatal("the run did not end")
		}
	}
}

func TestQueueAll_QueuesEachEnabledConnectorOnce(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	up := mcptest.Start(t, mcptest.Script{Tools: mcptest.Tools(1)})
	for range 3 {
		b.addConnector(t, up.URL)
	}
	b.queue(t, b.addConnector(t, up.URL))
	b.Connector(t, func(d *connectors.Draft) { d.Enabled = false })
	n, err := b.sync.QueueAll(t.Context(), b.Tenant, connectors.TriggerManual, nil)
	if err != nil || n != 3 {
		t.Errorf("queued %d, %v; one waited already, one is disabled", n, err)
	}
}

func TestSyncTools_SecondJobDoesNothing(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	up := mcptest.Start(t, mcptest.Script{Tools: mcptest.Tools(1)})
	run := b.queue(t, b.addConnector(t, up.URL))
	for range 2 {
		if err := b.work(t, run, 1); err != nil {
			t.Fatal(err)
		}
	}
	lists := 0
	for _, m := range up.Methods() {
		if m == "tools/list" {
			lists++
		}
	}
	if lists != 1 {
		t.Errorf("listed %d times", lists)
	}
}

func TestSyncTools_ServerFailureCompletesTheJob(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	up := mcptest.Start(t, mcptest.Script{On: map[string]mcptest.Handler{"initialize": mcptest.Status(http.StatusInternalServerError, "")}})
	run := b.queue(t, b.addConnector(t, up.URL))
	if err := b.work(t, run, 1); err != nil {
		t.Errorf("the job failed: %v", err)
	}
	if run = b.run(t, run.ID); run.State != connectors.SyncFailed || run.ErrorCode != "http_status" {
		t.Errorf("run = %+v", run)
	}
}

func TestSyncTools_SnoozesWhileAnotherRunIsActive(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	c := b.addConnector(t, mcptest.Start(t, mcptest.Script{Tools: mcptest.Tools(1)}).URL)
	run := b.queue(t, c)
	running := b.Run(t, c.ID)

	err := b.work(t, run, 5)
	if snooze, ok := errors.AsType[*river.JobSnoozeError](err); !ok || snooze.Duration <= 0 {
		t.Errorf("error = %v, want to be tried later", err)
	}
	if run = b.run(t, run.ID); run.State != connectors.SyncQueued {
		t.Errorf("run = %+v", run)
	}

	if _, err := b.Door().Syncs().Finish(t.Context(), running.ID, fixture.FirstResult()); err != nil {
		t.Fatal(err)
	}
	if err := b.work(t, run, 5); err != nil {
		t.Fatal(err)
	}
	if run = b.run(t, run.ID); run.State != connectors.SyncOK {
		t.Errorf("run = %+v", run)
	}
}

func TestSyncTools_DisabledConnectorEndsTheRun(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	c := b.addConnector(t, "http://127.0.0.1:1/")
	run := b.queue(t, c)
	d := connectors.DraftOf(c)
	d.Enabled = false
	if _, err := b.Door().Connectors().Update(t.Context(), c.ID, 0, d); err != nil {
		t.Fatal(err)
	}
	if err := b.work(t, run, 1); err != nil {
		t.Fatal(err)
	}
	if run = b.run(t, run.ID); run.State != connectors.SyncFailed || run.ErrorCode != "disabled" {
		t.Errorf("run = %+v", run)
	}
}

func TestSyncTools_DeletedConnectorCompletesTheJob(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	c := b.addConnector(t, "http://127.0.0.1:1/")
	run := b.queue(t, c)
	if err := b.Door().Connectors().Delete(t.Context(), c.ID); err != nil {
		t.Fatal(err)
	}
	if err := b.work(t, run, 1); err != nil {
		t.Errorf("error = %v", err)
	}
}

func TestSyncTools_InternalFailureIsRetriedThenClosed(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	c := b.addConnector(t, mcptest.Start(t, mcptest.Script{}).URL)
	run := b.queue(t, c)
	owner, err := pgx.Connect(t.Context(), b.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer owner.Close(t.Context())
	if _, err := owner.Exec(t.Context(), "revoke select on tools from patchbay_app"); err != nil { // a connector is read with its tools
		t.Fatal(err)
	}

	if err := b.work(t, run, 1); err == nil {
		t.Error("the first attempt: no error")
	}
	if got := b.run(t, run.ID); got.State != connectors.SyncQueued {
		t.Errorf("after the first attempt: %+v", got)
	}
	if err := b.work(t, run, 5); err == nil {
		t.Error("the last attempt: no error")
	}
	if got := b.run(t, run.ID); got.State != connectors.SyncFailed || got.ErrorCode != "internal" {
		t.Errorf("after the last attempt: %+v", got)
	}
}

func TestStop_EndsWorkersAndRuns(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	listing := make(chan struct{}, 1)
	up := mcptest.Start(t, mcptest.Script{On: map[string]mcptest.Handler{"tools/list": func(w http.ResponseWriter, r *http.Request, c mcptest.Call) {
		listing <- struct{}{}
		mcptest.Hang(w, r, c)
	}}})
	r := b.start(t)
	run := b.queue(t, b.addConnector(t, up.URL))
	<-listing
	over, cancel := context.WithCancel(t.Context())
	cancel()

	b.sync.Stop(over)
	stop(t, r)

	if run = b.run(t, run.ID); run.State != connectors.SyncFailed || run.ErrorCode != "interrupted" {
		t.Errorf("run = %+v", run)
	}
	list, err := b.Door().Syncs().List(t.Context(), run.ConnectorID, store.Page{})
	if err != nil || len(list.Items) != 1 {
		t.Errorf("runs = %+v, %v", list.Items, err)
	}
}
