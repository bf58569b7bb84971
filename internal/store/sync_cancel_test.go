package store_test

import (
	"testing"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/store"
	"patchbay/internal/testing/fixture"
)

func TestCancelSync_NothingOfTheRunIsStored(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	c := w.Connector(t, func(d *connectors.Draft) { d.SyncInterval = time.Hour })
	w.Synced(t, c.ID, "search")
	run := w.Run(t, c.ID)
	heard := make(chan store.ChangeEvent, 10)
	ctx, connected := t.Context(), make(chan bool, 10)
	go func() {
		_ = w.St.Watch(ctx, func(n store.ChangeEvent) { heard <- n }, func(yes bool) { connected <- yes })
	}()
	<-connected
	w.AsSystem(t, `update connector_clock set due_at = now() - interval '1 hour' where connector_id = $1 returning 1`, []any{c.ID}, new(int))

	cancelled, err := w.Door().Syncs().Cancel(t.Context(), run.ID, "Ada", store.Event{ActorType: "system", Action: "connector.sync_cancel", Target: c.Slug})
	if err != nil || cancelled.State != connectors.SyncCancelled || cancelled.CancelledBy != "Ada" {
		t.Fatalf("%+v, %v", cancelled, err)
	}
	for notices := 0; notices < 2; { // here, and from the database
		if n := <-heard; n.Kind == store.NoticeSync && n.ID == run.ID.String() && n.Tenant == w.Tenant {
			notices++
		}
	}
	added := fixture.Definition("added")
	result := fixture.FirstResult(fixture.Definition("search"), added)
	result.Diff = connectors.ToolDiff{Added: []connectors.ToolWrite{{Name: "added", Current: added.Hash, Review: connectors.ReviewNew}}}
	if _, err := w.Door().Syncs().Finish(t.Context(), run.ID, result); fault.As(err).Type != store.TypeSyncCancelled {
		t.Errorf("it finishes: %v", err)
	}
	if ok, _, err := w.Door().Syncs().FinishUnchanged(t.Context(), run.ID, fixture.ListHash(fixture.Definition("search")), store.ServerObservation{Total: 1}); ok || err != nil {
		t.Errorf("it finishes unchanged: %t, %v", ok, err)
	}
	if _, err := w.Door().Syncs().Fail(t.Context(), run.ID, connectors.SyncError{Code: "timeout", Message: "Silent."}, store.ServerObservation{}); fault.As(err).Type != store.TypeSyncCancelled {
		t.Errorf("it fails: %v", err)
	}
	now, err := w.Door().Connectors().Get(t.Context(), connectors.Ref(c.Slug))
	if err != nil || now.ToolCount != 1 || now.LastError != nil || now.Running != nil || now.Status != connectors.StatusOK {
		t.Errorf("%+v, %v", now, err)
	}
	var free, later bool
	w.AsSystem(t, `select claimed_by is null, due_at > now() + interval '50 minutes' from connector_clock where connector_id = $1`, []any{c.ID}, &free, &later)
	if !free || !later {
		t.Errorf("free %t, due later %t", free, later)
	}
	if _, err := w.Door().Syncs().Start(t.Context(), w.Start(c.ID)); err != nil {
		t.Errorf("another sync: %v", err)
	}
}

func TestCancelSync_OfASweepCountsAsDone(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	c := w.Connector(t)
	w.Connector(t)
	if _, err := w.Door().Syncs().QueueAll(t.Context(), connectors.TriggerManual, nil); err != nil {
		t.Fatal(err)
	}
	list, err := w.Door().Syncs().List(t.Context(), c.ID, store.Page{})
	if err != nil || len(list.Items) != 1 {
		t.Fatal(list, err)
	}
	if _, err := w.Door().Syncs().Cancel(t.Context(), list.Items[0].ID, "Ada", store.Event{ActorType: "system", Action: "connector.sync_cancel"}); err != nil {
		t.Fatal(err)
	}
	if s, err := w.Door().Syncs().NewestSweep(t.Context()); err != nil || s.Done() != 1 || s.Cancelled != 1 || !s.Open() {
		t.Errorf("%+v, %v", s, err)
	}
	other := w.Connector(t)
	run := w.Run(t, other.ID)
	if _, err := w.OtherDoor().Syncs().Cancel(t.Context(), run.ID, "Eve", store.Event{ActorType: "system", Action: "connector.sync_cancel"}); !fault.Is(err, fault.NotFound) {
		t.Errorf("another tenant: %v", err)
	}
}
