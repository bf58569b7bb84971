package manage_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
)

func TestPinTool_PinsGrantedTools(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	agent, c := b.Agent(t), b.Connector(t)
	b.Synced(t, c.ID, "create", "search")
	who, what := connectors.Ref(agent.Slug), connectors.Ref(c.Slug)
	if err := b.reg.PinTool(t.Context(), b.admin, who, what, "create", true); !fault.Is(err, fault.NotFound) {
		t.Errorf("without a grant: %v", err)
	}
	b.Grant(t, agent.ID, c.ID, func(g *connectors.Grant) { g.AllTools, g.Tools = false, []string{"create", "search"} })
	for _, step := range []struct {
		tool   string
		pinned bool
		want   []string
	}{
		{"search", true, []string{"search"}},
		{"create", true, []string{"create", "search"}},
		{"create", true, []string{"create", "search"}},
		{"search", false, []string{"create"}},
		{"create", false, []string{}},
	} {
		if err := b.reg.PinTool(t.Context(), b.admin, who, what, step.tool, step.pinned); err != nil {
			t.Fatal(err)
		}
		stored, err := b.Door().Agents().Grant(t.Context(), agent.ID, c.ID)
		if diff := cmp.Diff(step.want, append([]string{}, stored.PinnedTools...)); diff != "" || err != nil {
			t.Errorf("%+v: %s, %v", step, diff, err)
		}
	}
	if err := b.reg.PinTool(t.Context(), b.admin, who, what, "other", true); !fault.Is(err, fault.NotFound) {
		t.Errorf("a tool that is not granted: %v", err)
	}
	if err := b.reg.PinTool(t.Context(), b.actor(connectors.RoleMember), who, what, "create", true); !fault.Is(err, fault.Denied) {
		t.Errorf("a member: %v", err)
	}
	if slices.ContainsFunc(b.audited(t), func(action string) bool { return action != "agent_grant.set" }) {
		t.Errorf("audited as %q", b.audited(t))
	}
}
