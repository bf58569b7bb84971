package agentview_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"patchbay/internal/agentview"
	"patchbay/internal/connectors"
	"patchbay/internal/mcp/toolfmt"
	"patchbay/internal/store"
	"patchbay/internal/testing/fixture"
)

func TestSize_MeasuresExposedToolPerFormat(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	agent, c := b.Agent(t), b.Connector(t)
	b.Synced(t, c.ID, "search", "create", "delete")
	b.Grant(t, agent.ID, c.ID, fixture.Named("search", "create"))
	v := b.view(t, agent.ID)
	for _, format := range []toolfmt.Format{toolfmt.MCP, toolfmt.OpenAI, toolfmt.Anthropic, toolfmt.Google} {
		var want agentview.Size
		for _, tool := range v.Tools {
			written := toolfmt.Definitions(format, []toolfmt.Tool{tool.ForModels()})[0]
			want.Add(agentview.Size{Tools: 1, Bytes: len(written), Tokens: toolfmt.Tokens(format, written)})
		}
		if got := v.Size(format); got != want || got.Tools != 2 || got.Tokens == 0 || got != v.Size(format) {
			t.Errorf("%s: %+v, want %+v", format, got, want)
		}
	}
	if size := v.Connector(c.Slug).Tool("delete").Size(toolfmt.OpenAI); size != (agentview.Size{}) {
		t.Errorf("a tool that is not listed has a size: %+v", size)
	}
}

// TestSize_LeavesOutToolsOfApps also checks that such tools stay in the list.
func TestSize_LeavesOutToolsOfApps(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	agent, c := b.Agent(t), b.Connector(t, slug("docs"))
	visible := func(name, visibility string) connectors.Definition {
		return fixture.DefinitionOf(name, `{"name":"`+name+`","inputSchema":{"type":"object"},"_meta":{"ui":{"visibility":`+visibility+`}}}`)
	}
	b.Resynced(t, c.ID, visible("app", `["app"]`), visible("both", `["model","app"]`), visible("model", `["model"]`), visible("none", `[]`), visible("odd", `"app"`))
	b.Grant(t, agent.ID, c.ID)
	v := b.view(t, agent.ID)
	if size := v.Size(toolfmt.OpenAI); size.Tools != 3 {
		t.Errorf("%d tools count", size.Tools)
	}
	for name, want := range map[string][2]bool{ // only for apps, for apps
		"app": {true, true}, "both": {false, true}, "model": {false, false}, "none": {true, false}, "odd": {false, true},
	} {
		tool := v.Connector("docs").Tool(name)
		if got := [2]bool{tool.AppsOnly(), tool.ForApps()}; got != want {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
		if size := tool.Size(toolfmt.OpenAI); (size == agentview.Size{}) != want[0] || size != agentview.MeasureTool(tool.Exposed, tool.Raw, toolfmt.OpenAI) {
			t.Errorf("%s: size %+v", name, size)
		}
		if !strings.Contains(string(v.ListResult(agentview.Tools, false)), `"mcp_docs__`+name+`"`) {
			t.Errorf("%s is not listed", name)
		}
	}
}

func TestUnused_ListsToolsAvailableAllAlong(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	agent, old, young := b.Agent(t), b.Connector(t, slug("old")), b.Connector(t, slug("young"))
	b.Synced(t, old.ID, "called", "idle", "other")
	b.Synced(t, young.ID, "just_granted")
	b.Grant(t, agent.ID, old.ID)
	since := time.Now()
	b.Resynced(t, old.ID, fixture.Definition("called"), fixture.Definition("idle"), fixture.Definition("other"),
		fixture.DefinitionOf("just_listed", `{"name":"just_listed","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}}`))
	b.Grant(t, agent.ID, young.ID)
	now := time.Now()
	called := connectors.ToolCall{
		ID: connectors.ToolCallID{UUID: uuid.Must(uuid.NewV7())}, AgentID: &agent.ID, AgentSlug: agent.Slug, ConnectorID: &old.ID, ConnectorSlug: old.Slug, Kind: connectors.CallTool,
		Tool: "called", ExposedName: "mcp_old__called", Source: connectors.SourceGateway, Status: connectors.CallError, StartedAt: now, CompletedAt: &now,
	}
	if err := b.St.System().Calls().EndCalls(t.Context(), []store.OwnedCall{{Tenant: b.Tenant, ToolCall: called}}); err != nil {
		t.Fatal(err)
	}
	u, err := b.cache.Unused(t.Context(), b.Tenant, connectors.Ref(agent.Slug), since)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, tool := range u.Tools {
		names = append(names, tool.Name)
	}
	if diff := cmp.Diff([]string{"idle", "other"}, names); diff != "" || u.TooRecent != 2 || len(u.View.Tools) != 5 {
		t.Errorf("%d of %d are too young: %s", u.TooRecent, len(u.View.Tools), diff)
	}
}

func TestWhyAll_AgreesWithWhy(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	agent, c := b.Agent(t), b.Connector(t, slug("c"), func(d *connectors.Draft) { d.Auth.Type = connectors.AuthBearer })
	b.Synced(t, c.ID, "search", "create", "delete")
	b.Grant(t, agent.ID, c.ID, fixture.Named("search", "create"))
	v := b.view(t, agent.ID)
	whys, err := b.cache.ExplainTools(t.Context(), b.Door().Agents(), v, "c")
	if err != nil || len(whys) != 3 {
		t.Fatal(whys, err)
	}
	for _, name := range []string{"search", "create", "delete"} {
		want, err := b.cache.ExplainTool(t.Context(), b.Tenant, connectors.Ref(agent.Slug), connectors.ExposedName("c", name))
		if diff := cmp.Diff(want, whys[name]); diff != "" || err != nil {
			t.Error(err, diff)
		}
	}
	if whys, err = b.cache.ExplainTools(t.Context(), b.Door().Agents(), v, "elsewhere"); len(whys) != 0 || err != nil {
		t.Errorf("of a connector that is not granted: %v, %v", whys, err)
	}
}

// BenchmarkSize measures a thousand tools, as a page shows them.
func BenchmarkSize(b *testing.B) {
	w := newTestEnv(b)
	agent, c := w.Agent(b), w.Connector(b)
	var raws []string
	for i := range 1000 {
		raws = append(raws, fmt.Sprintf(`{"name":"tool_%d","description":"What it does.","inputSchema":%s}`, i, issueSchema))
	}
	w.storeSync(b, c.ID, defs(raws...), valid)
	w.Grant(b, agent.ID, c.ID)
	for _, format := range []toolfmt.Format{toolfmt.OpenAI, toolfmt.Google} {
		b.Run("first time, "+string(format), func(b *testing.B) {
			v := w.view(b, agent.ID)
			for b.Loop() {
				for _, tool := range v.Tools {
					toolfmt.Tokens(format, toolfmt.Definitions(format, []toolfmt.Tool{tool.ForModels()})[0])
				}
			}
		})
		b.Run("later, "+string(format), func(b *testing.B) {
			v := w.view(b, agent.ID)
			v.Size(format)
			for b.Loop() {
				v.Size(format)
			}
		})
	}
}
