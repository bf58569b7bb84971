package store_test

import (
	"testing"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/store"
	"patchbay/internal/testing/fixture"
)

func listening(t *testing.T, w *fixture.World, c connectors.Connector) connectors.Listening {
	t.Helper()
	all, err := w.Door().Syncs().Listenings(t.Context(), c.ID)
	if err != nil {
		t.Fatal(err)
	}
	return all[c.ID]
}

// reviewAll reviews connectors that no notification named.
func reviewAll(t *testing.T, w *fixture.World) int {
	t.Helper()
	sys := w.St.System()
	moved, err := sys.Syncs().ListenersToReview(t.Context(), 100)
	if err != nil {
		t.Fatal(err)
	}
	if err := sys.Syncs().ReviewListeners(t.Context(), moved...); err != nil {
		t.Fatal(err)
	}
	return len(moved)
}

// silent makes a process without heartbeats.
func silent(t *testing.T, w *fixture.World) connectors.InstanceID {
	t.Helper()
	id := fixture.NewInstance()
	if err := w.St.System().Syncs().Heartbeat(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Pool.Exec(t.Context(), "update instances set beat_at = now() - interval '7 seconds' where id = $1", id); err != nil {
		t.Fatal(err)
	}
	return id
}

func TestListeners_OnlyServersWithListChanged(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	w.Synced(t, w.Connector(t).ID, "search") // a server that says nothing of changes
	listened(t, w, w.Tenant, func(d *connectors.Draft) { d.Enabled = false })
	listened(t, w, w.Tenant, func(d *connectors.Draft) { d.Listen = connectors.ListenOff })
	listened(t, w, w.Tenant, func(d *connectors.Draft) { d.Transport = connectors.TransportHTTP })
	c, forgotten := listened(t, w, w.Other), w.Connector(t)
	w.TellsOfChanges(t, w.Tenant, forgotten.ID)
	if n := reviewAll(t, w); n != 1 { // not named by a notification
		t.Errorf("%d were not as they should be", n)
	}
	claimed := claim(t, w, w.Instance)
	if len(claimed) != 2 || claimed[0].Connector != c.ID || claimed[0].Tenant != w.Other || claimed[1].Connector != forgotten.ID {
		t.Errorf("claimed %+v", claimed)
	}
}

func TestStreams_MoveFromDeadProcess(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	c := listened(t, w, w.Tenant)
	first := silent(t, w)
	if n := len(claim(t, w, first)); n != 1 {
		t.Fatalf("the first one got %d", n)
	}
	if n := len(claim(t, w, w.Instance)); n != 0 {
		t.Errorf("the other one got %d", n)
	}
	stream := store.Stream{Connector: c.ID, Instance: first}
	if held, err := w.Door().Syncs().OpenStream(t.Context(), stream, nil, 0); !held || err != nil {
		t.Fatal(held, err)
	}
	if err := w.St.System().Syncs().Heartbeat(t.Context(), w.Instance); err != nil { // which hears that the first one is silent
		t.Fatal(err)
	}
	if l := listening(t, w, c); l.State != connectors.ListenWaiting {
		t.Errorf("after its death: %+v", l)
	}
	if n := len(claim(t, w, w.Instance)); n != 1 {
		t.Errorf("then the other one got %d", n)
	}
	held, err := w.Door().Syncs().OpenStream(t.Context(), stream, nil, 0)
	if held || err != nil {
		t.Errorf("the dead one still holds it: %v, %v", held, err)
	}
	streams, err := w.St.System().Syncs().OwnedStreams(t.Context(), w.Instance)
	if err != nil || len(streams) != 1 || streams[0].Stale {
		t.Errorf("held %+v, %v", streams, err)
	}
}

func TestStreams_StaleAfterSettingsChange(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	bearer := func(d *connectors.Draft) { d.Auth.Type = connectors.AuthBearer }
	settings, secret, same := listened(t, w, w.Tenant, bearer), listened(t, w, w.Tenant, bearer), listened(t, w, w.Tenant, bearer)
	claim(t, w, w.Instance)
	for _, c := range []connectors.Connector{settings, secret, same} {
		w.Credential(t, c.ID, nil, "token")
		stored, _, err := w.St.Vault(w.Tenant).Secret(t.Context(), c.ID, nil)
		if err != nil {
			t.Fatal(err)
		}
		held, err := w.Door().Syncs().OpenStream(t.Context(), store.Stream{Connector: c.ID, Instance: w.Instance}, &stored.ID, stored.Version)
		if !held || err != nil {
			t.Fatal(held, err)
		}
	}
	d := connectors.DraftOf(settings)
	d.Timeout += time.Second
	if _, err := w.Door().Connectors().Update(t.Context(), settings.ID, 0, d); err != nil {
		t.Fatal(err)
	}
	if err := w.Door().Connectors().DeleteCredential(t.Context(), secret.ID, nil, ""); err != nil {
		t.Fatal(err)
	}
	streams, err := w.St.System().Syncs().OwnedStreams(t.Context(), w.Instance)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range streams {
		if s.Stale != (s.Connector != same.ID) {
			t.Errorf("%+v", s)
		}
	}
}

func TestStreams_StayOffUntilResumed(t *testing.T) {
	t.Parallel()
	for name, again := range map[string]func(*fixture.World, connectors.Connector) error{
		"a person": func(w *fixture.World, c connectors.Connector) error {
			return w.Door().Syncs().ListenAgain(t.Context(), c.ID)
		},
		"other settings": func(w *fixture.World, c connectors.Connector) error {
			_, err := w.Door().Connectors().Update(t.Context(), c.ID, 0, connectors.DraftOf(c))
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := fixture.New(t)
			c := listened(t, w, w.Tenant)
			claim(t, w, w.Instance)
			sys := w.St.System()
			off := store.StreamEnd{State: connectors.ListenStateOff, Reason: connectors.ListenFlood, Failures: 3}
			if err := w.Door().Syncs().CloseStream(t.Context(), store.Stream{Connector: c.ID, Instance: w.Instance}, off); err != nil {
				t.Fatal(err)
			}
			reviewAll(t, w)
			if l := listening(t, w, c); l.State != connectors.ListenStateOff || l.Reason != connectors.ListenFlood || len(claim(t, w, w.Instance)) != 0 {
				t.Errorf("%+v", l)
			}
			if err := again(w, c); err != nil {
				t.Fatal(err)
			}
			if err := sys.Syncs().ReviewListeners(t.Context(), store.OwnedConnector{Tenant: w.Tenant, ID: c.ID}); err != nil {
				t.Fatal(err)
			}
			if claimed := claim(t, w, w.Instance); len(claimed) != 1 || claimed[0].Failures != 0 {
				t.Errorf("claimed %+v", claimed)
			}
		})
	}
}

func TestStreams_RetryAfterCredentialIsStored(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	c := listened(t, w, w.Tenant)
	claim(t, w, w.Instance)
	day := 24 * time.Hour
	end := store.StreamEnd{State: connectors.ListenStateOff, Reason: connectors.ListenUnauthorized, RetryAfter: &day}
	if err := w.Door().Syncs().CloseStream(t.Context(), store.Stream{Connector: c.ID, Instance: w.Instance}, end); err != nil {
		t.Fatal(err)
	}
	if n := len(claim(t, w, w.Instance)); n != 0 {
		t.Fatalf("claimed %d", n)
	}
	if err := w.St.System().Syncs().WakeListeners(t.Context(), store.OwnedConnector{Tenant: w.Tenant, ID: c.ID}); err != nil {
		t.Fatal(err)
	}
	if n := len(claim(t, w, w.Instance)); n != 1 {
		t.Errorf("claimed %d", n)
	}
}

func TestAProcessThatStopsFreesItsStreams(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	listened(t, w, w.Tenant)
	other := fixture.NewInstance()
	if err := w.St.System().Syncs().Heartbeat(t.Context(), other); err != nil {
		t.Fatal(err)
	}
	claim(t, w, other)
	if err := w.St.System().Syncs().ReleaseStreams(t.Context(), other); err != nil {
		t.Fatal(err)
	}
	if n := len(claim(t, w, w.Instance)); n != 1 {
		t.Errorf("claimed %d", n)
	}
}
