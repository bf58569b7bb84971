package toolsync_test

import (
	"testing"

	"github.com/jackc/pgx/v5"

	"patchbay/internal/connectors"
	"patchbay/internal/mcp/mcptest"
	"patchbay/internal/testing/fixture"
)

func TestHeartbeat_ClosesAnUnsavedRun(t *testing.T) {
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
	c := b.addConnector(t, newUpstream(t, mcptest.Script{Tools: mcptest.Tools(2)}).URL)
	exec("revoke update on sync_runs from patchbay_app")
	exec("grant update (repeats, repeated_at) on sync_runs to patchbay_app") // needed to start a run

	if _, err := b.run(t, c); err == nil {
		t.Fatal("no error")
	}
	if run := b.lastRun(t, c); run.State != connectors.SyncRunning {
		t.Fatalf("run = %+v", run)
	}

	exec("grant update on sync_runs to patchbay_app")
	b.sync.HeartbeatNow(t.Context())
	if run := b.lastRun(t, c); run.State != connectors.SyncFailed || run.ErrorCode != "internal" {
		t.Errorf("run = %+v", run)
	}
	b.mustSync(t, c)
}

func TestStop_EndsTheInstance(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	b.sync = newSyncer(t, b.World, b.Instance)
	other := newSyncer(t, b.World, fixture.NewInstance())
	c := b.addConnector(t, newUpstream(t, mcptest.Script{}).URL)
	b.Run(t, c.ID) // an abandoned run of b.Instance

	b.sync.Stop(t.Context())

	if run := b.lastRun(t, c); run.State != connectors.SyncFailed || run.ErrorCode != "interrupted" {
		t.Errorf("run = %+v", run)
	}
	b.sync = other
	b.mustSync(t, c)
}
