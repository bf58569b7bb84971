package store_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"patchbay/internal/connectors"
	"patchbay/internal/store"
	"patchbay/internal/testing/fixture"
)

// choiceAttempts are the outsider's at what the dashboard shows to choose by.
var choiceAttempts = map[string]attempt{
	"Agents.ToolChoices": func(ctx context.Context, o outsider) (bool, error) {
		list, err := o.door.Agents().ToolChoices(ctx, o.connector.ID, []string{"search"})
		return len(list) > 0, err
	},
	"Agents.CallCounts": func(ctx context.Context, o outsider) (bool, error) {
		list, err := o.door.Agents().CallCounts(ctx, []connectors.AgentID{o.agent.ID}, []string{"search"})
		return len(list) > 0, err
	},
	"Agents.AgentsGranted": func(ctx context.Context, o outsider) (bool, error) {
		list, err := o.door.Agents().AgentsGranted(ctx, o.connector.ID, "search")
		return len(list) > 0, err
	},
	"Agents.ApprovalsAbout": func(ctx context.Context, o outsider) (bool, error) {
		about, err := o.door.Agents().ApprovalsAbout(ctx, []connectors.ToolCallID{o.waiting.ID})
		return len(about) > 0, err
	},
}

// choiceVaultAttempts are those at the opened inbox.
var choiceVaultAttempts = map[string]attempt{
	"WaitingCalls": func(ctx context.Context, o outsider) (bool, error) {
		return some(o.vault.WaitingCalls(ctx, store.Page{}))
	},
}

func TestToolChoices_PresentAndNamedTools(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	c := w.Connector(t)
	w.Synced(t, c.ID, "a", "b", "gone")
	res := fixture.FirstResult()
	res.Diff.Removed = []string{"gone"}
	if _, err := w.Door().Syncs().Finish(t.Context(), w.Run(t, c.ID).ID, res); err != nil {
		t.Fatal(err)
	}
	names := func(named ...string) []string {
		list, err := w.Door().Agents().ToolChoices(t.Context(), c.ID, named)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, choice := range list {
			if choice.Raw == nil || choice.Removed != (choice.Name == "gone") {
				t.Errorf("%+v", choice)
			}
			names = append(names, choice.Name)
		}
		return names
	}
	if diff := cmp.Diff([]string{"a", "b"}, names("never there")); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"a", "b", "gone"}, names("gone")); diff != "" {
		t.Error(diff)
	}
}

func TestCallCountsAreOfOneAgentAndTool(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	agent, other, c := w.Agent(t), w.Agent(t), w.Connector(t)
	var calls []store.OwnedCall
	add := func(a connectors.Agent, tool string, status connectors.CallStatus) {
		now := time.Now()
		calls = append(calls, store.OwnedCall{Tenant: w.Tenant, ToolCall: connectors.ToolCall{
			ID: connectors.ToolCallID{UUID: uuid.Must(uuid.NewV7())}, AgentID: &a.ID, AgentSlug: a.Slug, ConnectorID: &c.ID, ConnectorSlug: c.Slug,
			Kind: connectors.CallTool, Tool: tool, ExposedName: tool, Source: connectors.SourceGateway, Status: status, StartedAt: now, CompletedAt: &now,
		}})
	}
	for range 3 {
		add(agent, "search", connectors.CallSuccess)
	}
	add(agent, "search", connectors.CallDenied)
	add(agent, "create", connectors.CallSuccess)
	add(other, "search", connectors.CallSuccess)
	if err := w.St.System().Calls().EndCalls(t.Context(), calls); err != nil {
		t.Fatal(err)
	}
	have, err := w.Door().Agents().CallCounts(t.Context(), []connectors.AgentID{agent.ID}, []string{"search"})
	want := []store.CallCount{{AgentID: agent.ID, ConnectorID: c.ID, Tool: "search", Calls: 4, Denied: 1}}
	if diff := cmp.Diff(want, have); diff != "" || err != nil {
		t.Error(err, diff)
	}
}

func TestAgentsGranted_OnlyAgentsOfTheTool(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	c := w.Connector(t)
	named := func(name string, enabled bool) connectors.AgentID {
		return w.Agent(t, func(a *connectors.Agent) { a.Name, a.Slug, a.Enabled = name, name, enabled }).ID
	}
	w.Grant(t, named("all", true), c.ID)
	w.Grant(t, named("named", true), c.ID, fixture.Named("search"))
	w.Grant(t, named("other", true), c.ID, fixture.Named("create"))
	w.Grant(t, named("disabled", false), c.ID)
	named("none", true)
	have, err := w.Door().Agents().AgentsGranted(t.Context(), c.ID, "search")
	want := []store.AgentChoice{{Slug: "all", Name: "all", Accounts: []string{}}, {Slug: "named", Name: "named", Accounts: []string{}}}
	if diff := cmp.Diff(want, have); diff != "" || err != nil {
		t.Error(err, diff)
	}
}
