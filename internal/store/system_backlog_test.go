package store_test

import (
	"testing"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/store"
	"patchbay/internal/testing/fixture"
)

func TestTheBacklogIsWhatWaitsInAllTenants(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	first, second := w.Connector(t), w.ConnectorIn(t, w.Other)
	w.AsSystem(t, "update connector_clock set due_at = null", nil)
	if b, err := w.St.System().Backlog(t.Context()); err != nil || b.Due != 0 || b.Late != 0 || b.Queued != 0 || b.Waited != 0 {
		t.Fatalf("nothing waits: %+v, %v", b, err)
	}
	w.AsSystem(t, "update connector_clock set due_at = now() - interval '10 minutes' where connector_id = $1", []any{first.ID.UUID})
	w.AsSystem(t, "update connector_clock set due_at = now() - interval '1 minute' where connector_id = $1", []any{second.ID.UUID})
	run, err := w.Door().Syncs().Queue(t.Context(), store.NewRun{ConnectorID: first.ID, Trigger: connectors.TriggerManual})
	if err != nil {
		t.Fatal(err)
	}
	w.AsSystem(t, "update sync_runs set queued_at = now() - interval '5 minutes' where id = $1", []any{run.ID.UUID})
	b, err := w.St.System().Backlog(t.Context())
	if err != nil || b.Due != 2 || b.Late < 10*time.Minute || b.Late > time.Hour || b.Queued != 1 || b.Waited < 5*time.Minute || b.Waited > time.Hour {
		t.Errorf("two are due and one is queued: %+v, %v", b, err)
	}
	if _, err := w.St.System().Syncs().ClaimDue(t.Context(), w.Instance, allShards(), 16, 16); err != nil {
		t.Fatal(err)
	}
	if b, err := w.St.System().Backlog(t.Context()); err != nil || b.Due != 0 || b.Late != 0 || b.Instances != 1 {
		t.Errorf("a living process has them: %+v, %v", b, err)
	}
}
