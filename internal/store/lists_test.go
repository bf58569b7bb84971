package store_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/store"
	"patchbay/internal/testing/fixture"
)

// ownLists are the methods that find nothing of another tenant's, and say nothing of it.
var ownLists = map[string]bool{
	"Lists.Agents": true, "Lists.Connectors": true, "Lists.ConnectorFigures": true, "Lists.ConnectorTags": true, "Lists.AgentAccess": true,
	"Lists.ConnectorAccess": true, "Lists.Matrix": true, "Lists.CallParts": true, "Connectors.ChangeTags": true,
	"Lists.Members": true, "Lists.APIKeys": true, "Lists.Webhooks": true, "Lists.AuditEvents": true, "Lists.SyncRuns": true, "Lists.Changes": true, "Lists.TaskCalls": true,
	"Lists.Notices": true, "Lists.Deliveries": true, "Lists.ToolChanges": true, "Lists.ConnectorAccounts": true, "Connectors.ItemPage": true,
	"Agents.DestructiveTools": true,
}

// listAttempts are the outsider's at lists.
var listAttempts = map[string]attempt{
	"Lists.Agents": func(ctx context.Context, o outsider) (bool, error) {
		list, _, err := o.door.Lists().Agents(ctx, store.AgentFilter{}, time.Time{})
		return slices.ContainsFunc(list.Items, func(a store.AgentSummary) bool { return a.ID == o.agent.ID }), err
	},
	"Lists.Connectors": func(ctx context.Context, o outsider) (bool, error) {
		list, _, err := o.door.Lists().Connectors(ctx, store.ConnectorFilter{}, time.Time{})
		return slices.ContainsFunc(list.Items, func(c store.ConnectorSummary) bool { return c.ID == o.connector.ID }), err
	},
	"Lists.ConnectorFigures": func(ctx context.Context, o outsider) (bool, error) {
		all, err := o.door.Lists().ConnectorFigures(ctx, time.Time{}, o.connector.ID)
		return len(all) > 0, err
	},
	"Lists.ConnectorTags": func(ctx context.Context, o outsider) (bool, error) {
		if _, err := o.Door().Connectors().ChangeTags(ctx, []connectors.ConnectorID{o.connector.ID}, []string{"theirs"}, nil); err != nil {
			return false, err
		}
		tags, err := o.door.Lists().ConnectorTags(ctx)
		return len(tags) > 0, err
	},
	"Lists.AgentAccess": func(ctx context.Context, o outsider) (bool, error) {
		rows, _, err := o.door.Lists().AgentAccess(ctx, o.agent.ID, store.AccessFilter{Window: store.Window{Limit: 100}})
		return slices.ContainsFunc(rows, func(c store.ConnectorReach) bool { return c.Granted || c.ID == o.connector.ID }), err
	},
	"Lists.ConnectorAccess": func(ctx context.Context, o outsider) (bool, error) {
		rows, _, err := o.door.Lists().ConnectorAccess(ctx, &o.connector.ID, store.AccessFilter{Window: store.Window{Limit: 100}})
		return slices.ContainsFunc(rows, func(a store.AgentReach) bool { return a.Granted || a.ID == o.agent.ID }), err
	},
	"Lists.Matrix": func(ctx context.Context, o outsider) (bool, error) {
		all := store.AccessFilter{Window: store.Window{Limit: 100}}
		m, err := o.door.Lists().Matrix(ctx, all, all)
		return m.Reach(o.agent.ID, o.connector.ID).Granted, err
	},
	"Lists.CallParts": func(ctx context.Context, o outsider) (bool, error) {
		now := time.Now()
		parts, err := o.door.Lists().CallParts(ctx, store.CallFilter{Agent: &o.agent.ID, From: now.Add(-time.Hour), To: now.Add(time.Hour)}, 4)
		return parts.Total > 0, err
	},
	"Lists.Members": func(ctx context.Context, o outsider) (bool, error) {
		n, err := o.door.Lists().Members(ctx)
		list, listErr := o.door.People().Members(ctx, store.Page{})
		return n != len(list.Items), errors.Join(err, listErr)
	},
	"Lists.APIKeys": func(ctx context.Context, o outsider) (bool, error) {
		n, err := o.door.Lists().APIKeys(ctx)
		list, listErr := o.door.People().APIKeys(ctx, store.Page{})
		return n != len(list.Items), errors.Join(err, listErr)
	},
	"Lists.Webhooks": func(ctx context.Context, o outsider) (bool, error) {
		n, err := o.door.Lists().Webhooks(ctx)
		list, listErr := o.door.Webhooks().List(ctx, store.Page{})
		return n != len(list.Items), errors.Join(err, listErr)
	},
	"Lists.AuditEvents": func(ctx context.Context, o outsider) (bool, error) {
		n, _, err := o.door.Lists().AuditEvents(ctx, store.AuditFilter{})
		list, listErr := o.door.Audit().List(ctx, store.AuditFilter{Page: store.Page{Limit: store.MaxLimit}})
		return n != len(list.Items), errors.Join(err, listErr)
	},
	"Lists.Notices": func(ctx context.Context, o outsider) (bool, error) {
		n, err := o.door.Lists().Notices(ctx)
		list, listErr := o.door.People().Notices(ctx, nil, store.Page{Limit: store.MaxLimit})
		return n != len(list.Items), errors.Join(err, listErr)
	},
	"Lists.Deliveries": func(ctx context.Context, o outsider) (bool, error) {
		n, err := o.door.Lists().Deliveries(ctx, o.webhook.ID)
		return n > 0, err
	},
	"Lists.ToolChanges": func(ctx context.Context, o outsider) (bool, error) {
		n, err := o.door.Lists().ToolChanges(ctx, o.changed.ID, "changed")
		return n > 0, err
	},
	"Lists.ConnectorAccounts": func(ctx context.Context, o outsider) (bool, error) {
		n, err := o.door.Lists().ConnectorAccounts(ctx, store.ConnectorAccountFilter{Connector: o.connector.ID})
		return n > 0, err
	},
	"Connectors.ItemPage": func(ctx context.Context, o outsider) (bool, error) {
		_, n, err := o.door.Connectors().ItemPage(ctx, store.ItemFilter{Connector: o.connector.ID, Kind: connectors.ItemPrompt})
		return n > 0, err
	},
	"Lists.SyncRuns": func(ctx context.Context, o outsider) (bool, error) {
		n, err := o.door.Lists().SyncRuns(ctx, o.connector.ID)
		return n > 0, err
	},
	"Lists.Changes": func(ctx context.Context, o outsider) (bool, error) {
		n, err := o.door.Lists().Changes(ctx, store.ChangeFilter{Connector: &o.connector.ID})
		return n > 0, err
	},
	"Lists.TaskCalls": func(ctx context.Context, o outsider) (bool, error) {
		n, err := o.door.Lists().TaskCalls(ctx, store.CallFilter{Agent: &o.agent.ID})
		return n > 0, err
	},
	"Agents.DestructiveTools": func(ctx context.Context, o outsider) (bool, error) {
		tools, err := o.door.Agents().DestructiveTools(ctx, []connectors.ConnectorID{o.connector.ID})
		return len(tools) > 0, err
	},
	"Connectors.ChangeTags": func(ctx context.Context, o outsider) (bool, error) {
		changed, err := o.door.Connectors().ChangeTags(ctx, []connectors.ConnectorID{o.connector.ID}, []string{"mine"}, nil)
		return len(changed) > 0, err
	},
}

func TestListsAgents_FiguresAndTrouble(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	fine, bare, idle := w.Agent(t), w.Agent(t), w.Agent(t)
	open := w.Connector(t)
	w.Synced(t, open.ID, "search", "create_issue")
	closed := w.Connector(t, func(d *connectors.Draft) {
		d.Name, d.Auth.Type, d.CredentialMode = "Sentry", connectors.AuthBearer, connectors.CredentialPerAgent
	})
	w.Grant(t, fine.ID, open.ID)
	w.Grant(t, bare.ID, open.ID)
	w.Grant(t, bare.ID, closed.ID)
	list, counts, err := w.Door().Lists().Agents(t.Context(), store.AgentFilter{}, time.Now().Add(-time.Hour))
	if err != nil || counts.Matching != 3 {
		t.Fatal(counts, err)
	}
	found := map[connectors.AgentID]store.AgentSummary{}
	for _, a := range list.Items {
		found[a.ID] = a
	}
	if a := found[fine.ID]; a.Connectors != 1 || a.Tools != 2 || a.Trouble.Connectors != 0 || a.SeenAt != nil {
		t.Errorf("with one grant: %+v", a)
	}
	if a := found[bare.ID]; a.Connectors != 2 || a.Trouble != (store.AgentTrouble{Connectors: 1, First: "Sentry", LacksAccount: true}) {
		t.Errorf("without an account: %+v", a)
	}
	if a := found[idle.ID]; a.Connectors != 0 || a.Tools != 0 || a.Tokens != 0 {
		t.Errorf("without grants: %+v", a)
	}
	for name, f := range map[string]store.AgentFilter{"words": {Query: bare.Slug}, "state": {Enabled: new(false)}, "approval": {Approval: connectors.ApprovalAuto}} {
		part, n, err := w.Door().Lists().Agents(t.Context(), f, time.Now())
		if err != nil || n.Matching != len(part.Items) || n.Matching > 1 {
			t.Errorf("by %s: %d of %d, %v", name, len(part.Items), n.Matching, err)
		}
	}
}

func TestListsAgents_TroubledOnes(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	agents := map[string]connectors.AgentID{}
	for _, name := range []string{"fine", "no token", "old token", "no account", "own account", "shared", "broken", "off", "disabled connector", "other account"} {
		agents[name] = w.Agent(t, func(a *connectors.Agent) { a.Enabled = name != "off" }).ID
		switch name {
		case "no token":
		case "old token":
			w.Token(t, agents[name], func(n *store.NewAgentToken) { n.ExpiresAt = new(time.Now().Add(-time.Hour)) })
		default:
			w.Token(t, agents[name])
		}
	}
	needsAccount := func(mode connectors.CredentialMode) func(*connectors.Draft) {
		return func(d *connectors.Draft) { d.Auth.Type, d.CredentialMode = connectors.AuthBearer, mode }
	}
	open, own, shared, broken := w.Connector(t), w.Connector(t, needsAccount(connectors.CredentialPerAgent)), w.Connector(t, needsAccount(connectors.CredentialShared)), w.Connector(t)
	off := w.Connector(t, needsAccount(connectors.CredentialShared), func(d *connectors.Draft) { d.Enabled = false })
	for name, to := range map[string]connectors.ConnectorID{
		"fine": open.ID, "no token": open.ID, "no account": own.ID, "own account": own.ID, "shared": shared.ID, "broken": broken.ID, "off": own.ID, "disabled connector": off.ID,
	} {
		w.Grant(t, agents[name], to)
	}
	w.AsOwner(t, "update connectors set last_error_code = 'x', last_error_message = 'x', last_error_at = now() where id = '"+broken.ID.String()+"'")
	w.Credential(t, own.ID, new(agents["own account"]), "token")
	w.Credential(t, shared.ID, nil, "token")
	w.Grant(t, agents["other account"], shared.ID, func(g *connectors.Grant) { g.Accounts = []string{"work"} })
	want := []connectors.AgentID{agents["no token"], agents["old token"], agents["no account"], agents["broken"], agents["other account"]}
	for _, order := range []string{"", "added"} {
		list, counts, err := w.Door().Lists().Agents(t.Context(), store.AgentFilter{Troubled: true, Page: store.Page{Order: store.SortOrder{By: order}}}, time.Now())
		if err != nil || counts != (store.AgentCounts{Matching: len(want), Troubled: len(want)}) || len(list.Items) != len(want) {
			t.Fatalf("%d agents, %+v, %v", len(list.Items), counts, err)
		}
		for _, a := range list.Items {
			if !slices.Contains(want, a.ID) || a.Tokens > 0 && a.Trouble.Connectors == 0 {
				t.Errorf("%s is listed: %+v", a.Name, a)
			}
		}
	}
	if _, counts, err := w.Door().Lists().Agents(t.Context(), store.AgentFilter{}, time.Now()); err != nil || counts != (store.AgentCounts{Matching: len(agents), Troubled: len(want)}) {
		t.Error(counts, err)
	}
}

func TestListsConnectors_FiltersAndTags(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	one := w.Connector(t)
	two := w.Connector(t, func(d *connectors.Draft) { d.Auth.Type = connectors.AuthBearer })
	w.Grant(t, w.Agent(t).ID, one.ID)
	door := w.Door()
	changed, err := door.Connectors().ChangeTags(t.Context(), []connectors.ConnectorID{one.ID, two.ID}, []string{"crm", "beta"}, nil)
	if err != nil || len(changed) != 2 {
		t.Fatal(changed, err)
	}
	changed, err = door.Connectors().ChangeTags(t.Context(), []connectors.ConnectorID{one.ID, two.ID}, []string{"crm"}, nil)
	if err != nil || len(changed) != 0 {
		t.Errorf("the same tag again changes %v, %v", changed, err)
	}
	if changed, err = door.Connectors().ChangeTags(t.Context(), []connectors.ConnectorID{two.ID}, nil, []string{"beta"}); err != nil || len(changed) != 1 || !slices.Equal(changed[0].Tags, []string{"crm"}) {
		t.Errorf("removed: %v, %v", changed, err)
	}
	if tags, err := door.Lists().ConnectorTags(t.Context()); err != nil || !slices.Equal(tags, []string{"beta", "crm"}) {
		t.Errorf("tags %v, %v", tags, err)
	}
	for name, tc := range map[string]struct {
		filter store.ConnectorFilter
		want   []connectors.ConnectorID
	}{
		"tag":            {store.ConnectorFilter{Tag: "beta"}, []connectors.ConnectorID{one.ID}},
		"authentication": {store.ConnectorFilter{AuthType: connectors.AuthBearer}, []connectors.ConnectorID{two.ID}},
		"transport":      {store.ConnectorFilter{Transport: connectors.TransportStdio}, nil},
		"tag, sorted":    {store.ConnectorFilter{Tag: "beta", Page: store.Page{Order: store.SortOrder{By: "tools"}}}, []connectors.ConnectorID{one.ID}},
	} {
		list, total, err := door.Lists().Connectors(t.Context(), tc.filter, time.Now())
		var have []connectors.ConnectorID
		for _, c := range list.Items {
			have = append(have, c.ID)
			if c.ID == one.ID && c.Agents != 1 {
				t.Errorf("used by %d agents", c.Agents)
			}
		}
		if err != nil || !slices.Equal(have, tc.want) || total != len(tc.want) {
			t.Errorf("by %s: %v of %d, %v", name, have, total, err)
		}
	}
}

func TestListsMatrix_BothWaysInParts(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	var agents []connectors.Agent
	var all []connectors.Connector
	for range 3 {
		agents, all = append(agents, w.Agent(t)), append(all, w.Connector(t))
	}
	for i := range agents {
		w.Grant(t, agents[i].ID, all[i].ID)
	}
	reached := map[connectors.AgentID]connectors.ConnectorID{}
	for skip := range 3 {
		m, err := w.Door().Lists().Matrix(t.Context(), store.AccessFilter{Window: store.Window{Skip: skip, Limit: 1}}, store.AccessFilter{Window: store.Window{Limit: 10}})
		if err != nil || len(m.Agents) != 1 || len(m.Connectors) != 3 || m.AllAgents != 3 || m.AllConnectors != 3 {
			t.Fatalf("%+v, %v", m, err)
		}
		for _, c := range m.Connectors {
			if m.Reach(m.Agents[0].ID, c.ID).AllTools {
				reached[m.Agents[0].ID] = c.ID
			}
		}
	}
	for i, a := range agents {
		if reached[a.ID] != all[i].ID {
			t.Errorf("agent %d reaches %v", i, reached[a.ID])
		}
	}
	rows, n, err := w.Door().Lists().AgentAccess(t.Context(), agents[0].ID, store.AccessFilter{Access: store.AccessNone, Window: store.Window{Limit: 10}})
	if err != nil || n != 2 || len(rows) != 2 {
		t.Errorf("without access: %d of %d, %v", len(rows), n, err)
	}
}
