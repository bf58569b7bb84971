package agentview_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"patchbay/internal/agentview"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/store"
	"patchbay/internal/testing/fixture"
)

func slug(s string) func(*connectors.Draft) {
	return func(d *connectors.Draft) { d.Slug, d.Name = s, s }
}

// storeSync stores a sync result with these definitions.
func (b *testEnv) storeSync(t testing.TB, c connectors.ConnectorID, defs []connectors.Definition, write func(d connectors.Definition) connectors.ToolWrite) {
	t.Helper()
	res := store.SyncResult{ServerObservation: store.ServerObservation{Total: len(defs)}, ListHash: fixture.ListHash(defs...), Definitions: defs}
	for _, d := range defs {
		res.Diff.Added = append(res.Diff.Added, write(d))
	}
	run := b.Run(t, c)
	if _, err := b.Door().Syncs().Finish(t.Context(), run.ID, res); err != nil {
		t.Fatal(err)
	}
}

func valid(d connectors.Definition) connectors.ToolWrite {
	return connectors.ToolWrite{Name: d.Name, Current: d.Hash, Accepted: &d.Hash, Review: connectors.ReviewAccepted}
}

func defs(raws ...string) []connectors.Definition {
	var all []connectors.Definition
	for _, raw := range raws {
		var named struct{ Name string }
		if err := json.Unmarshal([]byte(raw), &named); err != nil {
			panic(err)
		}
		all = append(all, fixture.DefinitionOf(named.Name, raw))
	}
	return all
}

func TestView_ShowsGrantedToolsOnly(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	agent := b.Agent(t)
	all, named, other := b.Connector(t, slug("all")), b.Connector(t, slug("named")), b.Connector(t, slug("other"))
	disabled := b.Connector(t, slug("disabled"), func(d *connectors.Draft) { d.Enabled = false })
	for _, c := range []connectors.Connector{all, named, other, disabled} {
		b.Synced(t, c.ID, "write", "read")
	}
	b.Grant(t, agent.ID, all.ID)
	b.Grant(t, agent.ID, named.ID, fixture.Named("read", "not there yet"))
	b.Grant(t, agent.ID, disabled.ID)
	v := b.view(t, agent.ID)
	if diff := cmp.Diff([]string{"mcp_all__read", "mcp_all__write", "mcp_named__read"}, exposedNames(v)); diff != "" {
		t.Error(diff)
	}
	for name, want := range map[string]string{
		"mcp_all__read": "", "mcp_named__write": agentview.HeldNotGranted, "mcp_disabled__read": agentview.BlockedDisabled,
	} {
		if tool := v.Tool(name); tool == nil || tool.BlockedBy != want {
			t.Errorf("%s: %+v", name, tool)
		}
	}
	if v.Tool("mcp_other__read") != nil || v.Connector("other") != nil || v.Connector("disabled") != nil || v.Connector("named").Tool("read") == nil {
		t.Error("the wrong connectors are within reach")
	}
}

func TestHeldTools_HaveDistinctReasons(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	agent, c := b.Agent(t), b.Connector(t, slug("c"))
	b.Grant(t, agent.ID, c.ID)
	before := fixture.DefinitionOf("changed", `{"name":"changed","description":"before"}`)
	b.storeSync(t, c.ID, append(defs(`{"name":"plain"}`, `{"name":"gone"}`), before), valid)
	list := defs(`{"name":"plain"}`, `{"name":"changed","description":"after"}`, `{"name":"new"}`, `{"name":"rejected"}`)
	res := store.SyncResult{ServerObservation: store.ServerObservation{Total: 4}, ListHash: fixture.ListHash(list...), Definitions: list}
	res.Diff.Changed = []connectors.ToolWrite{{Name: "changed", Current: list[1].Hash, Accepted: &before.Hash, Review: connectors.ReviewChanged}}
	res.Diff.Added = []connectors.ToolWrite{
		{Name: "new", Current: list[2].Hash, Review: connectors.ReviewNew},
		{Name: "rejected", Current: list[3].Hash, Review: connectors.ReviewRejected},
	}
	res.Diff.Removed = []string{"gone"}
	if _, err := b.Door().Syncs().Finish(t.Context(), b.Run(t, c.ID).ID, res); err != nil {
		t.Fatal(err)
	}
	v := b.view(t, agent.ID)
	if diff := cmp.Diff([]string{"mcp_c__changed", "mcp_c__plain"}, exposedNames(v)); diff != "" {
		t.Error(diff)
	}
	for name, want := range map[string]string{
		"plain": "", "changed": agentview.HeldReview, "new": agentview.BlockedNew, "rejected": agentview.HeldRejected, "gone": agentview.BlockedRemoved,
	} {
		if tool := v.Tool("mcp_c__" + name); tool == nil || tool.BlockedBy != want || tool.Listed() != (name == "plain" || name == "changed") {
			t.Errorf("%s: %+v", name, tool)
		}
	}
	if got := string(v.Tool("mcp_c__changed").Raw); got != string(before.Raw) {
		t.Errorf("served while it waits: %s", got)
	}
}

func TestListResult_KeepsDefinitionBytes(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	agent := b.Agent(t)
	const odd = `{ "x-big" : 9007199254740993, "name" : "get.thing" ,"inputSchema":{"type":"object","properties":{"name":{"description":"a < b é"}}},"e":1.50e+2}`
	const plain = `{"name":"idle","inputSchema":{"type":"object"}}`
	first, second := b.Connector(t, slug("a")), b.Connector(t, slug("b"))
	b.storeSync(t, first.ID, defs(odd), valid)
	b.storeSync(t, second.ID, defs(plain), valid)
	b.Grant(t, agent.ID, first.ID)
	b.Grant(t, agent.ID, second.ID)
	v := b.view(t, agent.ID)
	tools := strings.Replace(odd, `"get.thing"`, `"`+connectors.ExposedName("a", "get.thing")+`"`, 1) + "," +
		strings.Replace(plain, `"idle"`, `"mcp_b__idle"`, 1)
	const modern = `"resultType":"complete","ttlMs":0,"cacheScope":"private",`
	for got, want := range map[string]string{
		string(v.ListResult(agentview.Tools, false)):                `{"tools":[` + tools + `]}`,
		string(v.ListResult(agentview.Tools, true)):                 `{` + modern + `"tools":[` + tools + `]}`,
		string(v.Connector("a").ListResult(agentview.Tools, false)): `{"tools":[` + odd + `]}`,
		string(v.Connector("a").ListResult(agentview.Tools, true)):  `{` + modern + `"tools":[` + odd + `]}`,
		string(v.ListResult(agentview.Prompts, false)):              `{"prompts":[]}`,
		string(v.ListResult(agentview.Resources, true)):             `{` + modern + `"resources":[]}`,
		string(v.ListResult(agentview.Templates, false)):            `{"resourceTemplates":[]}`,
		string(v.Tool("mcp_b__idle").ServedDefinition(false)):       strings.Replace(plain, `"idle"`, `"mcp_b__idle"`, 1),
	} {
		if got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

func TestListResult_OmitsLegacyOnlyToolForModern(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	agent, c := b.Agent(t), b.Connector(t, slug("c"))
	b.Grant(t, agent.ID, c.ID)
	b.storeSync(t, c.ID, defs(`{"name":"bad","inputSchema":{"type":"object","properties":{"n":{"type":"string","x-mcp-header":""}}}}`, `{"name":"good"}`), valid)
	v := b.view(t, agent.ID)
	for _, list := range []interface {
		ListResult(k agentview.Kind, modern bool) []byte
	}{v, v.Connector("c")} {
		modern, legacy := string(list.ListResult(agentview.Tools, true)), string(list.ListResult(agentview.Tools, false))
		if strings.Contains(modern, "bad") || !strings.Contains(modern, "good") || !strings.Contains(legacy, "bad") {
			t.Errorf("modern %s\nlegacy %s", modern, legacy)
		}
	}
}

func TestPromptsAndResourcesAreNamespaced(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	agent, c := b.Agent(t), b.Connector(t, slug("docs"))
	b.Grant(t, agent.ID, c.ID, fixture.Named(), func(g *connectors.Grant) {
		g.Prompts, g.Resources = connectors.PromptsListed, connectors.ResourcesListedTemplates
	})
	items := []connectors.Item{
		{Kind: connectors.ItemPrompt, Key: "greet", Raw: []byte(`{"name":"greet","arguments":[{"name":"who"}]}`)},
		{Kind: connectors.ItemResource, Key: "file:///a b", Raw: []byte(`{"uri":"file:///a b","name":"A"}`)},
		{Kind: connectors.ItemTemplate, Key: "file:///{path}", Raw: []byte(`{"uriTemplate":"file:///{path}","name":"Any"}`)},
	}
	if _, err := b.Door().Connectors().SaveItems(t.Context(), c.ID, connectors.HashItems(items), items); err != nil {
		t.Fatal(err)
	}
	v := b.view(t, agent.ID)
	for k, want := range map[agentview.Kind][2]string{
		agentview.Prompts: {
			`{"prompts":[{"name":"mcp_docs__greet","arguments":[{"name":"who"}]}]}`,
			`{"prompts":[{"name":"greet","arguments":[{"name":"who"}]}]}`,
		},
		agentview.Resources: {
			`{"resources":[{"uri":"patchbay+docs:file:///a b","name":"A"}]}`,
			`{"resources":[{"uri":"file:///a b","name":"A"}]}`,
		},
		agentview.Templates: {
			`{"resourceTemplates":[{"uriTemplate":"patchbay+docs:file:///{path}","name":"Any"}]}`,
			`{"resourceTemplates":[{"uriTemplate":"file:///{path}","name":"Any"}]}`,
		},
	} {
		if diff := cmp.Diff(want, [2]string{string(v.ListResult(k, false)), string(v.Connector("docs").ListResult(k, false))}); diff != "" {
			t.Error(diff)
		}
	}
	if connector, name := v.Prompt("mcp_docs__greet"); connector == nil || name != "greet" {
		t.Errorf("prompt of %v: %q", connector, name)
	}
	if connector, uri := v.Resource("patchbay+docs:file:///x/y?z=1:2"); connector == nil || uri != "file:///x/y?z=1:2" {
		t.Errorf("resource of %v: %q", connector, uri)
	}
	for _, uri := range []string{"file:///a", "patchbay+docs", "patchbay+other:file:///a", "patchbay+:x"} {
		if connector, _ := v.Resource(uri); connector != nil {
			t.Errorf("%q is %s's", uri, connector.Connector.Slug)
		}
	}
}

// TestUIResourcesKeepTheirScheme checks lists with UI resources byte for byte.
func TestUIResourcesKeepTheirScheme(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	agent := b.Agent(t)
	show := `{"_meta":{"ui":{"csp":{ "x": ["ui://a"] },"resourceUri":"ui:\/\/app/m?a&b"},"ui/resourceUri":"ui://app/old","x/y":"ui://app/other"},` +
		`"name":"%s","inputSchema":{"type":"object"},"execution":{"taskSupport":"forbidden"}}`
	for _, name := range []string{"docs", "wiki"} { // two connectors with one definition
		c := b.Connector(t, slug(name))
		b.Resynced(t, c.ID, fixture.DefinitionOf("show", fmt.Sprintf(show, "show")))
		b.Grant(t, agent.ID, c.ID, fixture.Named("show"), func(g *connectors.Grant) { g.Resources = connectors.ResourcesListedTemplates })
		items := []connectors.Item{
			{Kind: connectors.ItemResource, Key: "ui://app/m", Raw: []byte(`{"uri":"ui://app/m","name":"A","_meta":{"ui":{"permissions":{ }}}}`)},
			{Kind: connectors.ItemResource, Key: "ui:x", Raw: []byte(`{"uri":"ui:x","name":"X"}`)},
			{Kind: connectors.ItemTemplate, Key: "ui://{path}", Raw: []byte(`{"uriTemplate":"ui://{path}","name":"Any"}`)},
		}
		if _, err := b.Door().Connectors().SaveItems(t.Context(), c.ID, connectors.HashItems(items), items); err != nil {
			t.Fatal(err)
		}
	}
	v := b.view(t, agent.ID)
	exposed := func(slug string) string {
		return strings.NewReplacer(`ui:\/\/app/m?a&b`, "ui://"+slug+"/app/m?a&b", "ui://app/old", "ui://"+slug+"/app/old", `"taskSupport":"forbidden"`, "").
			Replace(fmt.Sprintf(show, "mcp_"+slug+"__show"))
	}
	own := func(k agentview.Kind) string { return string(v.Connector("docs").ListResult(k, false)) }
	for got, want := range map[string]string{
		string(v.ListResult(agentview.Tools, false)): `{"tools":[` + exposed("docs") + "," + exposed("wiki") + `]}`,
		own(agentview.Tools):                         `{"tools":[` + strings.Replace(fmt.Sprintf(show, "show"), `"taskSupport":"forbidden"`, "", 1) + `]}`,
		string(v.ListResult(agentview.Resources, false)): `{"resources":[{"uri":"ui://docs/app/m","name":"A","_meta":{"ui":{"permissions":{ }}}},{"uri":"patchbay+docs:ui:x","name":"X"},` +
			`{"uri":"ui://wiki/app/m","name":"A","_meta":{"ui":{"permissions":{ }}}},{"uri":"patchbay+wiki:ui:x","name":"X"}]}`,
		string(v.ListResult(agentview.Templates, false)): `{"resourceTemplates":[{"uriTemplate":"ui://docs/{path}","name":"Any"},{"uriTemplate":"ui://wiki/{path}","name":"Any"}]}`,
	} {
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	}
	for exposed, want := range map[string]string{
		"ui://docs/app/m": "ui://app/m", "ui://docs/": "ui://", "ui://docs//x": "ui:///x", "ui://docs/wiki/x": "ui://wiki/x", "patchbay+docs:ui:x": "ui:x",
	} {
		if connector, uri := v.Resource(exposed); connector == nil || uri != want || connector.Expose(uri) != exposed {
			t.Errorf("%q is %q", exposed, uri)
		}
	}
	for _, uri := range []string{"ui://docs", "ui://other/app/m", "ui:///x", "UI://docs/app/m", "ui:docs/app/m"} {
		if connector, _ := v.Resource(uri); connector != nil {
			t.Errorf("%q is %s's", uri, connector.Connector.Slug)
		}
	}
	if docs := v.Connector("docs"); !docs.Permits(connectors.CallResource, "ui://app/old") || docs.Permits(connectors.CallResource, "file:///x") {
		t.Error("a linked resource is not permitted, or another one is")
	}
}

func TestListPage_SplitsLongList(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	agent, c := b.Agent(t), b.Connector(t, slug("big"))
	b.Grant(t, agent.ID, c.ID)
	var raws []string
	for i := range 12 {
		raws = append(raws, fmt.Sprintf(`{"name":"tool_%02d","description":%q}`, i, strings.Repeat("x", 1<<20)))
	}
	b.storeSync(t, c.ID, defs(raws...), valid)
	v := b.view(t, agent.ID)
	for _, modern := range []bool{false, true} {
		var names []string
		pages := 0
		for cursor := ""; ; pages++ {
			raw := v.ListPage(agentview.Tools, modern, cursor)
			var page struct {
				Tools      []struct{ Name string }
				NextCursor string
			}
			if err := json.Unmarshal(raw, &page); err != nil || len(raw) > 6<<20 {
				t.Fatalf("a page of %d bytes: %v", len(raw), err)
			}
			for _, tool := range page.Tools {
				names = append(names, tool.Name)
			}
			if cursor = page.NextCursor; cursor == "" {
				break
			}
		}
		if pages < 2 || len(names) != 12 || !slices.IsSorted(names) {
			t.Errorf("%d pages, %v", pages+1, names)
		}
	}
	if v.ListPage(agentview.Tools, false, "invented") != nil {
		t.Error("an invented cursor names a page")
	}
}

func TestExposedNames_RespectNameLimit(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	long := strings.Repeat("a_very_long_name_", 7)
	short, wide := b.Agent(t), b.Agent(t, func(a *connectors.Agent) { a.NameLimit = 128 })
	c := b.Connector(t, slug("c"))
	b.Synced(t, c.ID, long[:100], long[:101])
	for _, a := range []connectors.Agent{short, wide} {
		b.Grant(t, a.ID, c.ID)
		names := exposedNames(b.view(t, a.ID))
		if len(names) != 2 || names[0] == names[1] || len(names[0]) > a.NameLimit || len(names[1]) > a.NameLimit {
			t.Errorf("up to %d: %v", a.NameLimit, names)
		}
	}
	if got := exposedNames(b.view(t, wide.ID)); !slices.Contains(got, "mcp_c__"+long[:100]) {
		t.Errorf("cut though it fits: %v", got)
	}
}

func TestAsksAt_FollowsApprovalMode(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	mode := func(m connectors.ApprovalMode) func(*connectors.Agent) {
		return func(a *connectors.Agent) { a.Approval = m }
	}
	auto, trusted := connectors.ApprovalAuto, connectors.ApprovalTrustedOnly
	for name, tc := range map[string]struct {
		agent connectors.ApprovalMode
		grant connectors.Grant
		asks  bool
	}{
		"the agent's":          {connectors.ApprovalAuto, connectors.Grant{}, false},
		"the agent's, asking":  {connectors.ApprovalAlwaysAsk, connectors.Grant{}, true},
		"the grant's":          {connectors.ApprovalAlwaysAsk, connectors.Grant{Approval: &auto}, false},
		"trusted":              {connectors.ApprovalAuto, connectors.Grant{Approval: &trusted, TrustedTools: []string{"search"}}, false},
		"not trusted":          {connectors.ApprovalAuto, connectors.Grant{Approval: &trusted, TrustedTools: []string{"other"}}, true},
		"trusted by the agent": {connectors.ApprovalTrustedOnly, connectors.Grant{TrustedTools: []string{"search"}}, false},
	} {
		agent, c := b.Agent(t, mode(tc.agent)), b.Connector(t)
		b.Synced(t, c.ID, "search")
		b.Grant(t, agent.ID, c.ID, func(g *connectors.Grant) { g.Approval, g.TrustedTools = tc.grant.Approval, tc.grant.TrustedTools })
		if got := b.view(t, agent.ID).Tools[0].NeedsApproval; got != tc.asks {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestAllowance_SkipsApprovalUntilExpiry(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	agent, c := b.newGrantedAgent(t, "search")
	hash := b.view(t, agent.ID).Tools[0].Hash
	until := time.Now().Add(time.Hour)
	err := b.Door().Calls().AddAllowance(t.Context(), agent.ID, connectors.Allowance{AllowanceKey: connectors.AllowanceKey{ConnectorID: c.ID, Kind: connectors.CallTool, Tool: "search"}, Definition: hash, Until: until})
	if err != nil {
		t.Fatal(err)
	}
	tool := b.view(t, agent.ID).Tools[0]
	if tool.NeedsApprovalAt(until.Add(-time.Minute)) || !tool.NeedsApprovalAt(until.Add(time.Minute)) {
		t.Error("the allowance does not hold, or does not end")
	}
}

func TestListResult_IsSharedAmongAgents(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	first, c := b.newGrantedAgent(t, "search", "create")
	second := b.Agent(t)
	b.Grant(t, second.ID, c.ID)
	one, two := b.view(t, first.ID).ListResult(agentview.Tools, true), b.view(t, second.ID).ListResult(agentview.Tools, true)
	if &one[0] != &two[0] {
		t.Error("the same bytes stand in memory twice")
	}
}

func TestByAgent_RefusesTooManyDefinitions(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	agent, c := b.Agent(t), b.Connector(t, slug("c"))
	b.Grant(t, agent.ID, c.ID)
	var raws []string
	for i := range 5 {
		raws = append(raws, fmt.Sprintf(`{"name":"t%d","x":%q}`, i, strings.Repeat("x", 8<<20)))
	}
	b.storeSync(t, c.ID, defs(raws...), valid)
	_, err := b.cache.ByAgent(t.Context(), b.Tenant, connectors.Ref(agent.Slug))
	wantKind(t, err, fault.Conflict)
	b.Grant(t, agent.ID, c.ID, fixture.Named("t0", "t1"))
	if got := exposedNames(b.view(t, agent.ID)); len(got) != 2 {
		t.Errorf("%v", got)
	}
}

func TestDisabledTool_IsHeld(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	agent, c := b.newGrantedAgent(t, "off", "on")
	err := pgx.BeginFunc(t.Context(), b.Pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(t.Context(), "select set_config('app.system', 'on', true)"); err != nil {
			return err
		}
		_, err := tx.Exec(t.Context(), "update tools set enabled = false where name = 'off'")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	v := b.view(t, agent.ID)
	if tool := v.Tool(connectors.ExposedName(c.Slug, "off")); len(v.Tools) != 1 || tool.BlockedBy != agentview.BlockedDisabled {
		t.Errorf("%v: %+v", exposedNames(v), tool)
	}
}
