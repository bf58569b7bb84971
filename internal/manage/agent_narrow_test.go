package manage_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
)

func TestNarrowGrant_UsesCurrentGrant(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	agent, c := b.Agent(t), b.Connector(t)
	b.Synced(t, c.ID, "create", "delete", "search")
	who, what := connectors.Ref(agent.Slug), connectors.Ref(c.Slug)
	b.Grant(t, agent.ID, c.ID)
	for _, step := range []struct{ drop, left []string }{
		{[]string{"delete"}, []string{"create", "search"}},
		{[]string{"delete", "create"}, []string{"search"}},
		{[]string{"search"}, nil},
	} {
		left, err := b.reg.NarrowGrant(t.Context(), b.admin, who, what, step.drop)
		if err != nil {
			t.Fatal(err)
		}
		stored, err := b.Door().Agents().Grant(t.Context(), agent.ID, c.ID)
		if err != nil || stored.AllTools || len(stored.Tools) != len(step.left) || len(left.Tools) != len(step.left) {
			t.Fatalf("%+v, %v", stored, err)
		}
		if diff := cmp.Diff(step.left, stored.Tools); diff != "" && len(step.left) > 0 {
			t.Error(diff)
		}
	}
	if diff := cmp.Diff([]string{"agent_grant.set", "agent_grant.set", "agent_grant.set"}, b.audited(t)); diff != "" {
		t.Error(diff)
	}
}

func TestNarrowGrant_KeepsPromptsAndResources(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	agent, c := b.Agent(t), b.Connector(t)
	b.Synced(t, c.ID, "create", "search")
	b.Grant(t, agent.ID, c.ID, func(g *connectors.Grant) { g.Resources = connectors.ResourcesListed })
	left, err := b.reg.NarrowGrant(t.Context(), b.admin, connectors.Ref(agent.Slug), connectors.Ref(c.Slug), []string{"create"})
	if err != nil || left.AllTools || left.Prompts != connectors.PromptsListed || left.Resources != connectors.ResourcesListed {
		t.Errorf("%+v, %v", left, err)
	}
}

func TestNarrowGrant_RefusesInvalidRequests(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	agent, c := b.Agent(t), b.Connector(t)
	who, what := connectors.Ref(agent.Slug), connectors.Ref(c.Slug)
	if _, err := b.reg.NarrowGrant(t.Context(), b.admin, who, what, nil); !fault.Is(err, fault.NotFound) {
		t.Errorf("a grant that is not there: %v", err)
	}
	member := auth.Actor{Tenant: b.admin.Tenant, Role: connectors.RoleMember}
	if _, err := b.reg.NarrowGrant(t.Context(), member, who, what, nil); !fault.Is(err, fault.Denied) {
		t.Errorf("a member: %v", err)
	}
}
