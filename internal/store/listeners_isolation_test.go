package store_test

import (
	"context"
	"testing"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/store"
	"patchbay/internal/testing/fixture"
)

// streamOf is a stream that the victim's process holds, and on which it was told once that something had changed.
type streamOf struct{ stream store.Stream }

func (o *outsider) fillStream(t *testing.T) {
	t.Helper()
	c := listened(t, o.World, o.Tenant)
	o.stream = store.Stream{Connector: c.ID, Instance: o.Instance}
	claim(t, o.World, o.Instance)
	if held, err := o.Door().Syncs().OpenStream(t.Context(), o.stream, nil, 0); !held || err != nil {
		t.Fatal(held, err)
	}
	if err := o.Door().Syncs().RecordListChanges(t.Context(), o.stream, store.ListChanges{Times: 1, At: time.Now()}); err != nil {
		t.Fatal(err)
	}
}

// listened is a connector with a server that sends list_changed.
func listened(t testing.TB, w *fixture.World, tenant connectors.TenantID, opts ...func(*connectors.Draft)) connectors.Connector {
	t.Helper()
	c := w.ConnectorIn(t, tenant, opts...)
	w.TellsOfChanges(t, tenant, c.ID)
	if err := w.St.System().Syncs().ReviewListeners(t.Context(), store.OwnedConnector{Tenant: tenant, ID: c.ID}); err != nil {
		t.Fatal(err)
	}
	return c
}

// claim gives a process all streams that are due.
func claim(t testing.TB, w *fixture.World, instance connectors.InstanceID) []store.ClaimedStream {
	t.Helper()
	claimed, err := w.St.System().Syncs().ClaimStreams(t.Context(), instance, 100)
	if err != nil {
		t.Fatal(err)
	}
	return claimed
}

// ownStreams are the methods that find nothing of another tenant's, and say nothing of it.
var ownStreams = map[string]bool{"Syncs.Listenings": true, "Syncs.ListenAgain": true, "Syncs.OpenStream": true, "Syncs.CloseStream": true, "Syncs.RecordListChanges": true}

// listenerAttempts are the outsider's at streams that others hold.
var listenerAttempts = map[string]attempt{
	"Syncs.Listenings": func(ctx context.Context, o outsider) (bool, error) {
		all, err := o.door.Syncs().Listenings(ctx, o.stream.Connector)
		return len(all) > 0, err
	},
	"Syncs.ListenAgain": func(ctx context.Context, o outsider) (bool, error) {
		return o.changedStream(ctx, o.door.Syncs().ListenAgain(ctx, o.stream.Connector))
	},
	"Syncs.OpenStream": func(ctx context.Context, o outsider) (bool, error) {
		return o.door.Syncs().OpenStream(ctx, o.stream, nil, 0)
	},
	"Syncs.CloseStream": func(ctx context.Context, o outsider) (bool, error) {
		return o.changedStream(ctx, o.door.Syncs().CloseStream(ctx, o.stream, store.StreamEnd{State: connectors.ListenStateOff, Reason: connectors.ListenShortLived}))
	},
	"Syncs.RecordListChanges": func(ctx context.Context, o outsider) (bool, error) {
		return o.changedStream(ctx, o.door.Syncs().RecordListChanges(ctx, o.stream, store.ListChanges{Times: 1, At: time.Now(), Unchanged: 1}))
	},
	"Syncs.NotifyListChanged": func(ctx context.Context, o outsider) (bool, error) {
		err := o.door.Syncs().NotifyListChanged(ctx, o.stream.Connector, store.ChangeTools)
		return err == nil, err
	},
	"Syncs.ListsHash": func(ctx context.Context, o outsider) (bool, error) {
		return one(o.door.Syncs().ListsHash(ctx, o.stream.Connector))
	},
}

func (o outsider) changedStream(ctx context.Context, done error) (bool, error) {
	if done != nil {
		return false, done
	}
	all, err := o.Door().Syncs().Listenings(ctx, o.stream.Connector)
	now := all[o.stream.Connector]
	return now.State != connectors.ListenListening || now.Notified != 1, err
}
