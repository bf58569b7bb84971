package agentview_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"patchbay/internal/agentview"
	"patchbay/internal/connectors"
	"patchbay/internal/store"
)

func (b *testEnv) curateTools(t *testing.T, id connectors.ConnectorID, tools ...store.CuratedTool) {
	t.Helper()
	if err := b.Door().Tools().Curate(t.Context(), id, tools); err != nil {
		t.Fatal(err)
	}
}

func curatedTool(name, alias, text string) store.CuratedTool {
	return store.CuratedTool{Name: name, Curation: connectors.Curation{Enabled: true, Alias: alias, AgentText: text}}
}

func TestCurate_AgentsSeeAdminNamesAndTexts(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	agent, c := b.Agent(t), b.Connector(t, slug("c"))
	b.Grant(t, agent.ID, c.ID)
	list := defs(
		`{ "x-big":9007199254740993, "name":"search","description":"Server's.","inputSchema":{"type":"object","required":["q"]} }`,
		`{"name":"bare","inputSchema":{"type":"object"}}`, `{"name":"plain"}`,
	)
	b.storeSync(t, c.ID, list, valid)
	b.curateTools(t, c.ID, curatedTool("search", "find.it", "Finds <b>."), curatedTool("bare", "", "Does nothing."))
	v := b.view(t, agent.ID)

	var named struct{ Tools []json.RawMessage }
	if err := json.Unmarshal(v.Connector("c").ListResult(agentview.Tools, false), &named); err != nil {
		t.Fatal(err)
	}
	want := []string{
		`{"description":"Does nothing.","name":"bare","inputSchema":{"type":"object"}}`, `{"name":"plain","inputSchema":{"type":"object"}}`,
		`{ "x-big":9007199254740993, "name":"find.it","description":"Finds <b>.","inputSchema":{"type":"object","required":["q"]} }`,
	}
	for i, tool := range named.Tools {
		if diff := cmp.Diff(want[i], string(tool)); diff != "" {
			t.Error(diff)
		}
	}
	exposed := connectors.ExposedName("c", "find.it")
	tool := v.Tool(exposed)
	if tool == nil || tool.Name != "search" || tool.Hash != list[0].Hash || v.Tool("mcp_c__search") != nil {
		t.Fatalf("%s is %+v", exposed, tool)
	}
	all := string(v.ListResult(agentview.Tools, true))
	if !strings.Contains(all, `"name":"`+exposed+`","description":"Finds <b>."`) || strings.Contains(all, "Server's.") {
		t.Errorf("the list is %s", all)
	}
	if v.Connector("c").ConnectorName("find.it") != tool || v.Connector("c").ConnectorName("search") != nil || v.Connector("c").ConnectorName("plain") == nil || v.Connector("c").Tool("search") != tool {
		t.Error("the tool is found by another name than the agent's")
	}
	if err := tool.Validate(t.Context(), []byte(`{}`)); err == nil {
		t.Error("its arguments are not checked any more")
	}
}

func TestWhy_NamesAliasOfRenamedTool(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	agent, c := b.newGrantedAgent(t, "search")
	other := b.Connector(t, slug("other"))
	b.Synced(t, other.ID, "search")
	for _, id := range []connectors.ConnectorID{c.ID, other.ID} {
		b.curateTools(t, id, curatedTool("search", "find", ""))
	}
	why := func(name string) agentview.ToolAccess {
		t.Helper()
		w, err := b.cache.ExplainTool(t.Context(), b.Tenant, connectors.Ref(agent.Slug), name)
		if err != nil {
			t.Fatal(err)
		}
		return w
	}
	now := connectors.ExposedName(c.Slug, "find")
	if w := why(connectors.ExposedName(c.Slug, "search")); w.State != agentview.StateRenamed || !strings.Contains(w.Advice, now) || w.Listed || w.Tool != "search" {
		t.Errorf("the old name: %+v", w)
	}
	if w := why(now); !w.Listed || w.Tool != "search" || w.State != agentview.StateOK {
		t.Errorf("the new name: %+v", w)
	}
	if w := why("mcp_other__find"); w.State != agentview.HeldNotGranted || w.Tool != "search" {
		t.Errorf("of a connector that was not granted: %+v", w)
	}
	b.curateTools(t, c.ID, store.CuratedTool{Name: "search", Curation: connectors.Curation{Alias: "find"}})
	if w := why(now); w.State != agentview.BlockedDisabled || w.Listed {
		t.Errorf("disabled: %+v", w)
	}
}

func TestCurate_NewToolKeepsAdminAlias(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	agent, c := b.newGrantedAgent(t, "delete_all")
	b.curateTools(t, c.ID, curatedTool("delete_all", "tidy", ""))
	b.Synced(t, c.ID, "delete_all", "tidy")
	v := b.view(t, agent.ID)
	if tool := v.Tool(connectors.ExposedName(c.Slug, "tidy")); tool == nil || tool.Name != "delete_all" {
		t.Errorf("the name is %+v's", tool)
	}
	if tool := v.Connector(c.Slug).ConnectorName("tidy"); tool == nil || tool.Name != "delete_all" {
		t.Errorf("at its own address it is %+v's", tool)
	}
	if names := exposedNames(v); len(names) != 2 || len(slices.Compact(slices.Sorted(slices.Values(names)))) != 2 {
		t.Errorf("the agent sees %q", names)
	}
}
