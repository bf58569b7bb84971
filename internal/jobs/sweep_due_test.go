package jobs_test

import (
	"testing"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/mcp/mcptest"
	"patchbay/internal/store"
)

func TestAConnectorThatIsDueIsSyncedByItself(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	up := mcptest.Start(t, mcptest.Script{Tools: mcptest.Tools(2)})
	c := b.to(t, up.URL)
	tx, err := b.Pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(t.Context(), "select set_config('app.system', 'on', true)"); err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(t.Context(), "update connectors set next_sync_at = now() - interval '1 hour'"); err != nil {
		t.Fatal(err)
	}
	if err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	events, unwatch := b.sync.Watch(b.Tenant)
	defer unwatch()
	defer stop(t, b.start(t))

	late := time.After(patience)
	for done := false; !done; {
		select {
		case p := <-events:
			done = p.Done && p.Connector == c.ID
		case <-late:
			t.Fatal("the connector was not synced")
		}
	}
	runs, err := b.Door().SyncRuns(t.Context(), c.ID, store.Page{})
	if err != nil || len(runs.Items) != 1 {
		t.Fatalf("runs = %+v, %v", runs.Items, err)
	}
	if r := runs.Items[0]; r.State != connectors.SyncOK || r.Trigger != connectors.TriggerSchedule || r.Counts.Total != 2 {
		t.Errorf("run = %+v", r)
	}
}
