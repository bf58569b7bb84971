package jobs_test

import (
	"log/slog"
	"testing"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"

	"patchbay/internal/connectors"
	"patchbay/internal/credentials"
	"patchbay/internal/jobs"
	"patchbay/internal/queue"
	"patchbay/internal/retention"
)

// startUpkeep works the jobs of another process until the test ends and returns its sweeps and rounds of
// renewal.
func (b *bundle) startUpkeep(t *testing.T) (swept <-chan connectors.HistoryPart, renewed <-chan credentials.IdleReport) {
	t.Helper()
	parts, rounds := make(chan connectors.HistoryPart, 1000), make(chan credentials.IdleReport, 1000)
	r, err := jobs.New(jobs.Options{
		Pool: b.Pool, ListenPool: b.Pool, Syncer: b.sync, Due: b.St.System().Syncs().DueShards,
		Parts: []jobs.Module{jobs.Upkeep(jobs.MaintenanceOptions{
			Sweeper:     retention.New(retention.Options{Store: b.St, Batch: 10, Swept: func(p connectors.HistoryPart, _ int) { parts <- p }}),
			System:      b.St.System(),
			Store:       b.St,
			Credentials: credentials.New(b.St),
			Renewed:     func(r credentials.IdleReport) { rounds <- r },
			Log:         slog.New(slog.DiscardHandler),
		})},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stop(t, r) })
	return parts, rounds
}

func within[T any](t *testing.T, from <-chan T) (v T) {
	t.Helper()
	select {
	case v = <-from:
	case <-time.After(patience):
		t.Fatal("nothing happened")
	}
	return v
}

func TestSweepHistory_RunsInOneProcess(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	b.OldCalls(t, b.Connector(t), "search", 100, 25)
	b.OldCalls(t, b.Connector(t), "search", 1, 5)
	first, _ := b.startUpkeep(t)
	second, _ := b.startUpkeep(t)
	for range 3 {
		select {
		case <-first:
		case <-second:
		case <-time.After(patience):
			t.Fatal("nothing was swept")
		}
	}
	if n := b.Count(t, "tool_calls"); n != 5 {
		t.Errorf("%d calls are left", n)
	}
	var made int
	if err := b.Pool.QueryRow(t.Context(), "select count(*) from river_job where kind = 'sweep_history'").Scan(&made); err != nil || made != 1 {
		t.Errorf("%d sweeps for two processes, %v", made, err)
	}
}

// The job of a killed process counts as running and excludes a second one until it is rescued. The next process
// continues at its cursor.
func TestSweepHistory_ContinuesAfterAKilledProcess(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	done, open := b.Connector(t), b.ConnectorIn(t, b.Other)
	b.OldCalls(t, done, "search", 100, 5)
	b.OldCalls(t, open, "search", 100, 25)
	client, err := river.NewClient(riverpgxv5.New(b.Pool), &river.Config{})
	if err != nil {
		t.Fatal(err)
	}
	job, err := client.Insert(t.Context(), queue.SweepHistory{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	_, err = b.Pool.Exec(t.Context(), `
		update river_job
		set state = 'running', attempt = 1, attempted_at = now() - interval '2 hours', attempted_by = '{gone}',
		    metadata = jsonb_build_object('output', jsonb_build_object('done', $2::text, 'tenant', '00000000-0000-0000-0000-000000000000'))
		where id = $1`, job.Job.ID, b.Tenant.String())
	if err != nil {
		t.Fatal(err)
	}
	swept, _ := b.startUpkeep(t)
	for range 3 {
		within(t, swept)
	}
	var mine, theirs int
	b.AsSystem(t, "select count(*) filter (where tenant_id = $1), count(*) filter (where tenant_id = $2) from tool_calls", []any{b.Tenant, b.Other}, &mine, &theirs)
	if mine != 5 || theirs != 0 {
		t.Errorf("%d and %d are left", mine, theirs)
	}
}

func TestRenewIdle_RunsByTheClock(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	_, rounds := b.startUpkeep(t)
	if report := within(t, rounds); report != (credentials.IdleReport{}) {
		t.Errorf("%+v", report)
	}
}
