package store_test

import (
	"context"
	"testing"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/store"
	"patchbay/internal/testing/fixture"
)

// watched hears what other processes change.
func watched(t *testing.T, w *fixture.World) <-chan store.ChangeEvent {
	t.Helper()
	other, err := store.Open(t.Context(), w.Pool, w.KEK)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(other.Close)
	heard, begun := make(chan store.ChangeEvent, 1000), make(chan struct{}, 100)
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = other.Watch(ctx, func(n store.ChangeEvent) { heard <- n }, func(bool) { begun <- struct{}{} })
	}()
	t.Cleanup(func() { stop(); <-ended })
	<-begun
	return heard
}

func TestWatch_NotifiesOtherProcesses(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	agent, c := w.Agent(t), w.Connector(t)
	_, token := w.TokenIn(t, w.Tenant, agent.ID)
	heard := watched(t, w)
	for _, tc := range []struct {
		kind, id, what string
		change         func() error
	}{
		{"agent", agent.ID.String(), "an agent", func() error { _, err := w.Door().Agents().Update(t.Context(), agent); return err }},
		{"agent", agent.ID.String(), "a grant", func() error { w.Grant(t, agent.ID, c.ID); return nil }},
		{"agent", agent.ID.String(), "an allowance", func() error {
			return w.Door().Calls().AddAllowance(t.Context(), agent.ID, connectors.Allowance{AllowanceKey: connectors.AllowanceKey{ConnectorID: c.ID, Kind: connectors.CallTool, Tool: "search"}, Until: time.Now().Add(time.Hour)})
		}},
		{"agent", agent.ID.String(), "an allowance's end", func() error {
			_, err := w.Door().Calls().EndAllowance(t.Context(), agent.ID, connectors.AllowanceKey{ConnectorID: c.ID, Kind: connectors.CallTool, Tool: "search"})
			return err
		}},
		{"agent", agent.ID.String(), "a grant's end", func() error { return w.Door().Agents().DropGrant(t.Context(), agent.ID, c.ID) }},
		{"token", token.ID.String(), "a token's end", func() error {
			_, err := w.Door().Agents().DeleteToken(t.Context(), agent.ID, token.ID)
			return err
		}},
		{"connector", c.ID.String(), "a connector", func() error {
			d := connectors.DraftOf(c)
			d.Enabled = false
			_, err := w.Door().Connectors().Update(t.Context(), c.ID, 0, d)
			return err
		}},
		{"connector", c.ID.String(), "tools", func() error { w.Synced(t, c.ID, "search", "create"); return nil }},
		{"connector", c.ID.String(), "a tool that is another one, and one that went", func() error {
			other := fixture.Definition("search")
			other.Raw = append(other.Raw[:len(other.Raw)-1:len(other.Raw)-1], []byte(`,"x":1}`)...)
			other.Hash = connectors.HashDefinition(other.Raw)
			w.Resynced(t, c.ID, other)
			return nil
		}},
		{"credential", c.ID.String(), "a credential", func() error { w.Credential(t, c.ID, nil, "t-1"); return nil }},
		{"tenant", w.Tenant.String(), "a tenant", func() error { return w.Door().Rename(t.Context(), "Other") }},
		{"connector", c.ID.String(), "a connector's end", func() error { return w.Door().Connectors().Delete(t.Context(), c.ID) }},
	} {
		if err := tc.change(); err != nil {
			t.Fatal(err)
		}
		await(t, heard, tc.what, store.ChangeEvent{Kind: tc.kind, Tenant: w.Tenant, ID: tc.id})
	}
}

func await(t *testing.T, heard <-chan store.ChangeEvent, what string, want store.ChangeEvent) {
	t.Helper()
	end := time.After(time.Minute)
	for {
		select {
		case n := <-heard:
			if n == want {
				return
			}
		case <-end:
			t.Fatalf("%s: %+v is not heard", what, want)
		}
	}
}

func TestASyncThatFindsNothingNewSaysNothing(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	c, agent := w.Connector(t), w.Agent(t)
	w.Synced(t, c.ID, "search")
	heard := watched(t, w)
	run := w.Run(t, c.ID)
	seen := store.ServerObservation{Server: connectors.Server{Name: "example", Version: "1.0.0", ProtocolVersion: "2025-11-25"}, AuthBehaviour: connectors.AuthOpen, Total: 1}
	ok, _, err := w.Door().Syncs().FinishUnchanged(t.Context(), run.ID, fixture.ListHash(fixture.Definition("search")), seen)
	if !ok || err != nil {
		t.Fatal(ok, err)
	}
	w.Grant(t, agent.ID, c.ID) // the next thing that is said
	if n := <-heard; n.Kind != "agent" {
		t.Errorf("heard %+v", n)
	}
}
