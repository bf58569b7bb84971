package admin_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"patchbay/internal/connectors"
	"patchbay/internal/mcp/mcptest"
	"patchbay/internal/store"
)

// listRuns lists a connector's runs, newest first.
func (d *dashboard) listRuns(id connectors.ConnectorID) []connectors.SyncRun {
	d.t.Helper()
	list, err := d.Door().Syncs().List(d.t.Context(), id, store.Page{})
	if err != nil || len(list.Items) == 0 {
		d.t.Fatal(list, err)
	}
	return list.Items
}

// listCurations lists the curated tools of a connector by name.
func (d *dashboard) listCurations(slug string) map[string]store.CuratedTool {
	d.t.Helper()
	c, err := d.Door().Connectors().Get(d.t.Context(), connectors.Ref(slug))
	if err != nil {
		d.t.Fatal(err)
	}
	list, err := d.Door().Tools().Curated(d.t.Context(), c.ID)
	if err != nil {
		d.t.Fatal(err)
	}
	all := map[string]store.CuratedTool{}
	for _, tool := range list {
		all[tool.Name] = tool
	}
	return all
}

// addConnectorWithTools adds a connector with tools of all kinds.
func addConnectorWithTools(t *testing.T, d *dashboard, b *browser) *mcptest.Server {
	t.Helper()
	up := mcptest.Start(t, mcptest.Script{SessionID: "s", PageSize: 2, Tools: []string{
		`{"name":"create_issue","title":"Create issue","description":"Creates an issue in a project.","annotations":{"destructiveHint":false,"openWorldHint":true},"inputSchema":{"type":"object"}}`,
		`{"name":"delete_issue","description":"Deletes an issue, with its comments.","annotations":{"destructiveHint":true},"inputSchema":{"type":"object"}}`,
		`{"name":"search_issues","title":"Search","description":"Searches issues by words.","annotations":{"readOnlyHint":true,"idempotentHint":true},"inputSchema":{"type":"object"}}`,
	}})
	b.post("/connectors", connectorForm("Linear", up.URL))
	b.submit("/connectors/linear/sync_tools", nil)
	return up
}

func TestCurate_OverridesADescription(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	b := d.signInAsRole(connectors.RoleAdmin)
	addConnectorWithTools(t, d, b)
	const tool = "/connectors/linear/tools/create_issue"
	saved := b.submit(tool+"/curate", url.Values{
		"enabled": {"true"}, "alias": {"open_ticket"}, "agent_description": {"Opens a ticket."}, "tags": {"billing, Tickets"},
	})
	saved.want(t, http.StatusOK, "“create_issue” saved.", "mcp_linear__open_ticket", "Opens a ticket.", "custom description", "Creates an issue in a project.", "#billing", "#tickets")
	for _, wrong := range []url.Values{
		{"enabled": {"true"}, "alias": {"open ticket"}},
		{"enabled": {"true"}, "alias": {"search_issues"}},
	} {
		p := b.post(tool+"/curate", wrong)
		p.want(t, http.StatusUnprocessableEntity, wrong.Get("alias"))
		if !strings.Contains(p.Body, "Use 1–128 unaccented letters, digits, underscores, hyphens or dots.") && !strings.Contains(p.Body, "is taken") {
			t.Errorf("%s is refused without a reason", wrong.Get("alias"))
		}
	}
	if got := d.listCurations("linear")["create_issue"]; got.Alias != "open_ticket" || !got.Enabled {
		t.Errorf("a refused form changed it: %+v", got)
	}
	d.signInAsRole(connectors.RoleViewer).get(tool).want(t, http.StatusOK, "open_ticket", "billing")
}

func TestSeveralToolsAreChangedByOneBar(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	b := d.signInAsRole(connectors.RoleAdmin)
	addConnectorWithTools(t, d, b)
	const list = "/connectors/linear/tools"
	bar := func(do, word string, tools ...string) page {
		return b.submit(list, url.Values{"do": {do}, "word": {word}, "tool": tools, "return_to": {list + "?state=enabled"}})
	}
	bar("disable", "", "delete_issue", "create_issue").want(t, http.StatusOK, "Disabled 2 tools.", "Undo", "search_issues", "1 tool")
	bar("tag", "issues read", "search_issues", "create_issue").want(t, http.StatusOK, "2 tools updated.", "#issues")
	bar("untag", "read", "create_issue").want(t, http.StatusOK, "1 tool updated.")
	bar("prefix", "our_", "search_issues", "delete_issue").want(t, http.StatusOK, "our_search_issues")
	bar("enable", "", "create_issue").want(t, http.StatusOK, "2 tools")
	got := d.listCurations("linear")
	if got["delete_issue"].Enabled || got["delete_issue"].Alias != "our_delete_issue" || strings.Join(got["create_issue"].Tags, " ") != "issues" ||
		strings.Join(got["search_issues"].Tags, " ") != "issues read" {
		t.Errorf("%+v", got)
	}
	bar("reset", "", "search_issues", "delete_issue").want(t, http.StatusOK, "2 tools updated.")
	for do, want := range map[string]string{"tag": "Enter a tag or prefix.", "nothing": "Choose an action.", "enable": "Choose 1–2,000 tools."} {
		var tools []string
		if do != "enable" {
			tools = []string{"create_issue"}
		}
		bar(do, "", tools...).want(t, http.StatusOK, strings.ReplaceAll(want, "2,000", "2000"))
	}
	if d.listCurations("linear")["search_issues"].Alias != "" {
		t.Error("the server's name was not given back")
	}
}

func TestToolsAreFilteredByTheirAddress(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	b := d.signInAsRole(connectors.RoleAdmin)
	addConnectorWithTools(t, d, b)
	b.submit("/connectors/linear/tools", url.Values{"do": {"tag"}, "word": {"safe"}, "tool": {"search_issues"}})
	for query, want := range map[string]string{
		"annotation=destructiveHint": "delete_issue", "annotation=openWorldHint": "create_issue", "tag=safe": "search_issues",
		"q=comments": "delete_issue", "state=enabled&q=words": "search_issues",
	} {
		p := b.get("/connectors/linear/tools?" + query)
		p.want(t, http.StatusOK, want, "1 tool")
	}
	b.get("/connectors/linear/tools?state=held").want(t, http.StatusOK, "No matching tools")
	b.get("/connectors/linear/tools?choose=all").want(t, http.StatusOK, "Clear selection")
	if p := d.signInAsRole(connectors.RoleViewer).get("/connectors/linear/tools"); strings.Contains(p.Body, "tools-bulk") {
		t.Error("a viewer is shown the bar")
	}
}

func TestAnAdminsDescriptionHidesNoChange(t *testing.T) {
	t.Parallel()
	d, _ := newDashboardWithChangedTool(t)
	b := d.signInAsRole(connectors.RoleAdmin)
	b.submit("/connectors/linear/tools/search/curate", url.Values{"enabled": {"true"}, "alias": {"find"}, "agent_description": {"Finds issues."}})
	b.get("/changes").want(t, http.StatusOK, "search", "1 change")
	b.get("/connectors/linear/tools/search/changes").want(t, http.StatusOK, "Agents see find with an admin's description.", "Do not tell the user.")
	b.get("/connectors/linear/tools/search").want(t, http.StatusOK, "Tool changed", "Text for agents", "Finds issues.")
}

func TestARunShowsItsRequests(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	b := d.signInAsRole(connectors.RoleAdmin)
	up := addConnectorWithTools(t, d, b)
	b.get("/connectors/linear/runs").want(t, http.StatusOK, "/connectors/linear/runs/")
	run := d.listRuns(d.findConnector("linear").ID)[0]
	p := b.get("/connectors/linear/runs/" + run.ID.String())
	p.want(t, http.StatusOK, "Initialize", "List tools, page 2", "End session", ">204<", "received", "handshake")
	if _, table, there := strings.Cut(p.Body, "<table"); !there || strings.Contains(table, up.URL) {
		t.Error("the requests tell an address")
	}
	b.get("/connectors/linear").want(t, http.StatusOK, "one per conversation", "initialize handshake", "nothing", "no credential", "tools")
}

func TestConnectorDelete_ListsDependents(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	b := d.signInAsRole(connectors.RoleAdmin)
	addConnectorWithTools(t, d, b)
	b.get("/connectors/linear/settings").want(t, http.StatusOK, "No agent has access, and no tool was called in the last 30 days.")
	c := d.findConnector("linear")
	for _, name := range []string{"Ada's", "Billing", "Support", "Zoo"} {
		agent := d.Agent(t, func(a *connectors.Agent) { a.Name = name })
		d.Grant(t, agent.ID, c.ID)
		if name == "Zoo" {
			d.createWaitingCall(d.Tenant, agent, c)
		}
	}
	d.Credential(t, c.ID, nil, "token")
	p := b.get("/connectors/linear/settings")
	p.want(t, http.StatusOK, "Granted to Ada's, Billing, Support and 1 other agent.", "1 call waiting for approval.", "1 stored credential.", "Disable Linear?", "3 tools and their history")
	if strings.Contains(p.Body, "No agent has access") {
		t.Error("it says that nothing depends on it, too")
	}
}

// findConnector finds a connector by its slug.
func (d *dashboard) findConnector(slug string) connectors.Connector {
	d.t.Helper()
	c, err := d.Door().Connectors().Get(d.t.Context(), connectors.Ref(slug))
	if err != nil {
		d.t.Fatal(err)
	}
	return c
}

func TestToolFilter_UnknownHintIsIgnored(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	b := d.signInAsRole(connectors.RoleAdmin)
	addConnectorWithTools(t, d, b)
	for _, hint := range []string{`x"|.*`, "(", "\x00", "readOnlyHint|destructiveHint"} {
		b.get("/connectors/linear/tools?annotation="+url.QueryEscape(hint)).want(t, http.StatusOK, "create_issue", "delete_issue", "search_issues")
	}
}
