package store_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/store"
	"patchbay/internal/testing/fixture"
)

// heardHere are the notices that a process hears of itself: it has no other way to hear.
type heardHere struct {
	mu  sync.Mutex
	all []store.ChangeEvent // guarded by mu
}

func (h *heardHere) hear(n store.ChangeEvent) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.all = append(h.all, n)
}

// take are the notices since the last take.
func (h *heardHere) take() []store.ChangeEvent {
	h.mu.Lock()
	defer h.mu.Unlock()
	all := h.all
	h.all = nil
	return all
}

// A process that acts on what agents see drops its views before the act is answered.
func TestWatchTellsOwnActsBeforeTheyReturn(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	st, err := store.OpenPooled(t.Context(), w.Pool, nil, w.KEK)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(st.Close)
	here, begun := &heardHere{}, make(chan struct{})
	ctx, stop := context.WithCancel(t.Context())
	var watching sync.WaitGroup
	t.Cleanup(func() { stop(); watching.Wait() })
	watching.Go(func() {
		_ = st.Watch(ctx, func(n store.ChangeEvent) { beginStatement(begun); here.hear(n) }, func(bool) {})
	})
	agent, door := w.Agent(t), st.Tenant(w.Tenant)
	for heard := false; !heard; { // until Watch has begun
		if err := door.Rename(t.Context(), "Another"); err != nil {
			t.Fatal(err)
		}
		select {
		case <-begun:
			heard = true
		case <-time.After(time.Millisecond):
		}
	}
	c := w.Connector(t, func(d *connectors.Draft) { d.ToolChanges = connectors.ToolChangesHoldAll })
	w.Says(t, c.ID, "Be kind.", said("search", "a", ""), said("write", "a", ""))
	w.Says(t, c.ID, "Be quick.", said("search", "b", ""), said("write", "b", ""))
	cosmetic := w.Connector(t, func(d *connectors.Draft) { d.ToolChanges = connectors.ToolChangesHoldAll })
	w.Says(t, cosmetic.ID, "Be kind.", said("search", "a", ""))
	w.Says(t, cosmetic.ID, "Be kind.\n", said("search", "a", `,"title":"T"`))
	tool := func(name string, accept bool) store.ToolDecision {
		return store.ToolDecision{Connector: c.ID, Tool: name, Accept: accept, By: "Ada"}
	}
	for _, tc := range []struct {
		what, kind, id string
		act            func() error
	}{
		{"accept a tool", "connector", c.ID.String(), func() error { return door.Tools().Decide(t.Context(), tool("search", true)) }},
		{"reject a tool", "connector", c.ID.String(), func() error { return door.Tools().Decide(t.Context(), tool("write", false)) }},
		{"accept instructions", "connector", c.ID.String(), func() error { return door.Tools().DecideInstructions(t.Context(), tool("", true)) }},
		{"accept changes without risk", "connector", cosmetic.ID.String(), func() error { _, err := door.Tools().AcceptCosmetic(t.Context(), "Ada"); return err }},
		{"curate a tool", "connector", c.ID.String(), func() error {
			return door.Tools().Curate(t.Context(), c.ID, []store.CuratedTool{{Name: "search"}})
		}},
		{"grant", "agent", agent.ID.String(), func() error {
			return door.Agents().SetGrant(t.Context(), connectors.Grant{AgentID: agent.ID, ConnectorID: c.ID, AllTools: true})
		}},
		{"revoke", "agent", agent.ID.String(), func() error { return door.Agents().DropGrant(t.Context(), agent.ID, c.ID) }},
		{"change a connector", "connector", c.ID.String(), func() error {
			_, err := door.Connectors().Update(t.Context(), c.ID, 0, connectors.DraftOf(c))
			return err
		}},
		{"change an agent", "agent", agent.ID.String(), func() error { _, err := door.Agents().Update(t.Context(), agent); return err }},
		{"delete a connector", "connector", c.ID.String(), func() error { return door.Connectors().Delete(t.Context(), c.ID) }},
		{"delete an agent", "agent", agent.ID.String(), func() error { return door.Agents().Delete(t.Context(), agent.ID) }},
	} {
		here.take()
		if err := tc.act(); err != nil {
			t.Errorf("%s: %v", tc.what, err)
		} else if want := (store.ChangeEvent{Kind: tc.kind, Tenant: w.Tenant, ID: tc.id}); !slices.Contains(here.take(), want) {
			t.Errorf("%s: %+v was not heard when it returned", tc.what, want)
		}
	}
}

// beginStatement closes a channel, once.
func beginStatement(begun chan struct{}) {
	select {
	case <-begun:
	default:
		close(begun)
	}
}
