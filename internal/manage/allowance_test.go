package manage_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/manage"
	"patchbay/internal/store"
)

// allow makes an agent that was granted a new connector, and allows its tool search for an hour.
func (b *testEnv) allow(t *testing.T, opts ...func(*connectors.Draft)) (connectors.Agent, connectors.Connector) {
	t.Helper()
	agent, c := b.Agent(t), b.create(t, connectors.Secret{}, opts...)
	b.Synced(t, c.ID, "search")
	b.Grant(t, agent.ID, c.ID)
	b.AllowanceIn(t, b.Tenant, agent.ID, c.ID, "search")
	return agent, c
}

// countAllowances counts an agent's allowances.
func (b *testEnv) countAllowances(t *testing.T, agent connectors.Agent) int {
	t.Helper()
	list, err := b.reg.Allowances(t.Context(), b.admin, connectors.Ref(agent.Slug), store.Page{})
	if err != nil {
		t.Fatal(err)
	}
	return len(list.Items)
}

func TestEndAllowance_IsForDecidersOfTheAgent(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	agent, c := b.allow(t)
	owner := b.actor(connectors.RoleMember)
	owner.UserID = new(b.Member(t, connectors.RoleMember).UserID)
	if err := b.Door().Agents().MakePersonal(t.Context(), *owner.UserID, agent.ID); err != nil {
		t.Fatal(err)
	}
	end := func(who auth.Actor) error {
		return b.reg.EndAllowance(t.Context(), who, manage.AllowanceRef{Agent: connectors.Ref(agent.Slug), Connector: connectors.Ref(c.Slug), Tool: "search"})
	}
	for name, who := range map[string]auth.Actor{"a viewer": b.actor(connectors.RoleViewer), "another member": b.actor(connectors.RoleMember)} {
		if err := end(who); !fault.Is(err, fault.Denied) {
			t.Errorf("%s ends it: %v", name, err)
		}
	}
	if n := b.countAllowances(t, agent); n != 1 {
		t.Errorf("%d allowances", n)
	}
	if err := end(owner); err != nil {
		t.Error(err)
	}
	if err := end(b.admin); !fault.Is(err, fault.NotFound) {
		t.Errorf("ended twice: %v", err)
	}
}

func TestEndAllowance_IsAudited(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	agent, c := b.allow(t)
	ref := manage.AllowanceRef{Agent: connectors.Ref(agent.Slug), Connector: connectors.Ref(c.Slug), Tool: "search"}
	if err := b.reg.EndAllowance(t.Context(), b.admin, ref); err != nil {
		t.Fatal(err)
	}
	list, err := b.Door().Audit().List(t.Context(), store.AuditFilter{Action: "agent_allowance.end"})
	if err != nil || len(list.Items) != 1 || list.Items[0].Target != agent.Slug+"/"+c.Slug {
		t.Fatalf("%+v, %v", list.Items, err)
	}
	var detail map[string]any
	if err := json.Unmarshal(list.Items[0].Detail, &detail); err != nil {
		t.Fatal(err)
	}
	delete(detail, "until")
	want := map[string]any{"agent_id": agent.ID.String(), "connector_id": c.ID.String(), "kind": "tool", "tool": "search", "granted_by": "Ada"}
	if diff := cmp.Diff(want, detail); diff != "" {
		t.Error(diff)
	}
}

func TestUpdate_OriginChangeEndsAllowances(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		change manage.Change
		left   int
	}{
		"another path":   {url("https://one.example.com/other"), 1},
		"another name":   {manage.Change{Draft: func(d *connectors.Draft) { d.Name, d.Slug = "Renamed", "renamed" }}, 1},
		"another origin": {url("https://two.example.com/mcp"), 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newTestEnv(t)
			agent, c := b.allow(t)
			b.update(t, c, tc.change)
			if n := b.countAllowances(t, agent); n != tc.left {
				t.Errorf("%d allowances, want %d", n, tc.left)
			}
		})
	}
}
