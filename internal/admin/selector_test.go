package admin_test

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"patchbay/internal/connectors"
	"patchbay/internal/testing/fixture"
	"patchbay/internal/testing/htmlcheck"
)

// effectByPrefix maps the first word of a tool's name to its effect.
var effectByPrefix = map[string]string{
	"list":   `"annotations":{"readOnlyHint":true}`,
	"create": `"annotations":{"readOnlyHint":false,"destructiveHint":false}`,
	"delete": `"annotations":{"destructiveHint":true}`,
	"guess":  `"annotations":{}`,
}

// addConnectorWithEffects adds a connector with that many tools of each effect.
func (d *dashboard) addConnectorWithEffects(name string, each int) connectors.Connector {
	d.t.Helper()
	c := d.addConnectorAt(name, "https://"+strings.ToLower(name)+".example.com/mcp")
	var defs []connectors.Definition
	for verb, annotations := range effectByPrefix {
		for i := range each {
			tool := fmt.Sprintf("%s_thing_%d", verb, i)
			defs = append(defs, fixture.DefinitionOf(tool, fmt.Sprintf(
				`{"name":%q,"title":"%s thing %d","description":"It does what it says to thing %d of the project, and tells what came of it.","inputSchema":{"type":"object","properties":{"thing":{"type":"string","description":"Which one."}}},%s}`,
				tool, verb, i, i, annotations)))
		}
	}
	slices.SortFunc(defs, func(a, b connectors.Definition) int { return strings.Compare(a.Name, b.Name) })
	run := d.Run(d.t, c.ID)
	if _, err := d.Door().Syncs().Finish(d.t.Context(), run.ID, fixture.FirstResult(defs...)); err != nil {
		d.t.Fatal(err)
	}
	return c
}

// checkedTools are the checked tools of a page, and those its filter shows.
func checkedTools(t *testing.T, p page) (names, shown []string) {
	t.Helper()
	doc := htmlcheck.Parse(t, p.Body)
	for _, box := range doc.All("input") {
		if box.Attr("name") == "tool" && box.Has("checked") {
			names = append(names, box.Attr("value"))
		}
	}
	for _, row := range doc.All("li") {
		if row.Attr("data-effect") != "" && !row.Has("hidden") {
			shown = append(shown, row.Attr("data-effect"))
		}
	}
	return names, shown
}

func TestToolSelector_WorksWithoutScript(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	c := d.addConnectorWithEffects("Linear", 3)
	a := d.Agent(t, func(a *connectors.Agent) { a.Name, a.Slug = "Support", "support" })
	b, path := d.signInAsRole(connectors.RoleAdmin), "/agents/support/connectors/linear"
	p := b.get(path)
	p.want(t, http.StatusOK, "0 of 12 selected, about 0 tokens", "Read-only (3)", "Writes (3)", "Destructive (3)", "Not stated (3)", "within 20 % per tool (published tokenizer)")
	if p.says("Why?") {
		t.Error("where nothing is granted there is nothing to explain")
	}
	if _, shown := checkedTools(t, b.get(path+"?effect=destructive&q=THING+1")); !slices.Equal(shown, []string{"destructive"}) {
		t.Errorf("the address filters: %v", shown)
	}

	form := url.Values{"all": {"false"}, "approval": {"auto"}, "tool": {"guess_thing_0"}, "trusted": {"guess_thing_0"}, "effect": {"read_only"}, "q": {""}, "do": {"choose"}}
	p = b.post(path+"/choose", form)
	p.want(t, http.StatusOK, "4 of 12 selected", "3 shown")
	names, shown := checkedTools(t, p)
	if !slices.Equal(names, []string{"guess_thing_0", "list_thing_0", "list_thing_1", "list_thing_2"}) || len(shown) != 3 {
		t.Errorf("%v, %v", names, shown)
	}
	if box, _ := htmlcheck.Parse(t, p.Body).Control("approval"); box.Attr("name") == "" || !strings.Contains(p.Body, `value="auto" selected`) {
		t.Error("what was chosen besides is lost")
	}
	form["tool"], form["q"], form["effect"], form["do"] = names, []string{"thing 2"}, []string{""}, []string{"drop"}
	p = b.post(path+"/choose", form)
	if names, shown = checkedTools(t, p); !slices.Equal(names, []string{"guess_thing_0", "list_thing_0", "list_thing_1"}) || len(shown) != 4 {
		t.Errorf("%v, %v", names, shown)
	}
	if _, err := d.Door().Agents().Grant(t.Context(), a.ID, c.ID); err == nil {
		t.Error("choosing has granted")
	}
	form["tool"] = names
	b.post(path, form).want(t, http.StatusUnprocessableEntity, "Never ask for “Support” on “Linear”?")
	form["sure"] = []string{"yes"}
	b.submit(path, form).want(t, http.StatusOK, "“Support” can use 3 tools of “Linear”.", "3 of 12 tools")
	mode := connectors.ApprovalAuto
	d.wantGrant(connectors.Grant{AgentID: a.ID, ConnectorID: c.ID, Tools: names, TrustedTools: []string{"guess_thing_0"}, Approval: &mode})
}

func TestToolSelector_ShowsEachToolsState(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	linear, github := d.addConnectorWithEffects("Linear", 1), d.addConnectorWithEffects("GitHub", 1)
	a := d.Agent(t, func(a *connectors.Agent) {
		a.Name, a.Slug, a.Approval = "Support", "support", connectors.ApprovalTrustedOnly
	})
	d.Grant(t, a.ID, linear.ID, func(g *connectors.Grant) {
		g.AllTools, g.Tools, g.TrustedTools = false, []string{"list_thing_0", "create_thing_0", "gone"}, []string{"list_thing_0"}
	})
	d.Grant(t, a.ID, github.ID)
	b := d.signInAsRole(connectors.RoleAdmin)
	p := b.get("/agents/support/connectors/linear")
	p.want(t, http.StatusOK, "Calls run without approval.", "Calls need approval.", "No access yet.", "missing", "3 of 5 selected",
		"GitHub", "All 4 tools", "Ask, except for trusted tools")
	doc := htmlcheck.Parse(t, p.Body)
	doc.Sound(t)
	b.get("/agents/support/tools/mcp_linear__delete_thing_0").want(t, http.StatusOK, "Not granted")
	d.signInAsRole(connectors.RoleViewer).get("/agents/support/connectors/linear").want(t, http.StatusOK, "which calls need approval.", "tokens")
	b.get("/agents/support/access").want(t, http.StatusOK, "Context size", "3 of 4 tools")
}
