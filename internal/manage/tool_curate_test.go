package manage_test

import (
	"fmt"
	"strings"
	"testing"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/manage"
)

func TestCurateTools_IsAudited(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	c := b.Connector(t)
	b.Synced(t, c.ID, "a", "b")
	patches := []connectors.ToolPatch{
		{Tool: "a", Alias: new("find"), AgentText: new("A long text.")}, {Tool: "b", Enabled: new(false), AddTags: []string{"x"}}, {Tool: "b"},
	}
	changed, err := b.reg.CurateTools(t.Context(), b.admin, connectors.Ref(c.Slug), patches)
	if changed != 2 || err != nil {
		t.Fatalf("%d changed, %v", changed, err)
	}
	events := b.everything(t, "audit_events")
	for _, want := range []string{"tool.curate", c.Slug, `""a alias"": ""find""`, `""b enabled"": false`, `""a agent_description"": ""A long text.""`} {
		if !strings.Contains(events, want) {
			t.Errorf("the record lacks %s: %s", want, events)
		}
	}
	if changed, err = b.reg.CurateTools(t.Context(), b.admin, connectors.Ref(c.Slug), patches); changed != 0 || err != nil {
		t.Errorf("a second time: %d, %v", changed, err)
	}
	if n := strings.Count(b.everything(t, "audit_events"), "tool.curate"); n != 1 {
		t.Errorf("%d events, for one change", n)
	}
}

func TestCurateTools_RequiresManagePermission(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	c := b.Connector(t)
	b.Synced(t, c.ID, "a")
	one := []connectors.ToolPatch{{Tool: "a", Enabled: new(false)}}
	member := b.admin
	member.Role = connectors.RoleMember
	many := make([]connectors.ToolPatch, manage.MaxPatches+1)
	for i := range many {
		many[i].Tool = fmt.Sprint(i)
	}
	for name, try := range map[string]struct {
		who     auth.Actor
		ref     string
		patches []connectors.ToolPatch
		want    fault.Kind
	}{
		"a member":      {member, c.Slug, one, fault.Denied},
		"another one's": {b.admin, "nobodys", one, fault.NotFound},
		"nothing":       {b.admin, c.Slug, nil, fault.Invalid},
		"too many":      {b.admin, c.Slug, many, fault.Invalid},
	} {
		if _, err := b.reg.CurateTools(t.Context(), try.who, connectors.Ref(try.ref), try.patches); !fault.Is(err, try.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
