package toolsync_test

import (
	"testing"

	"github.com/jackc/pgx/v5"

	"patchbay/internal/connectors"
	"patchbay/internal/mcp/mcptest"
	"patchbay/internal/testing/fixture"
)

func TestARunWhoseEndCouldNotBeStoredIsClosedByALaterBeat(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	owner, err := pgx.Connect(t.Context(), b.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer owner.Close(t.Context())
	exec := func(sql string) {
		t.Helper()
		if _, err := owner.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	c := b.to(t, upstream(t, mcptest.Script{Tools: mcptest.Tools(2)}).URL)
	exec("revoke update on sync_runs from patchbay_app")
	exec("grant update (repeats, repeated_at) on sync_runs to patchbay_app") // which the beginning of a run needs

	if _, err := b.run(t, c); err == nil {
		t.Fatal("no error")
	}
	if run := b.lastRun(t, c); run.State != connectors.SyncRunning {
		t.Fatalf("run = %+v", run)
	}

	exec("grant update on sync_runs to patchbay_app")
	b.sync.BeatNow(t.Context())
	if run := b.lastRun(t, c); run.State != connectors.SyncFailed || run.ErrorCode != "internal" {
		t.Errorf("run = %+v", run)
	}
	b.ok(t, c)
}

func TestAProcessThatStopsIsNotTakenForAlive(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	b.sync = newSyncer(t, b.World, b.Instance)
	other := newSyncer(t, b.World, fixture.NewInstance())
	c := b.to(t, upstream(t, mcptest.Script{}).URL)
	b.Run(t, c.ID) // of b.Instance, and abandoned

	b.sync.Stop(t.Context())

	if run := b.lastRun(t, c); run.State != connectors.SyncFailed || run.ErrorCode != "interrupted" {
		t.Errorf("run = %+v", run)
	}
	b.sync = other
	b.ok(t, c)
}
