package admin_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"patchbay/internal/connectors"
	"patchbay/internal/mcp/mcptest"
	"patchbay/internal/testing/fixture"
	"patchbay/internal/testing/htmlcheck"
)

func TestChange_HighRiskAcceptAsks(t *testing.T) {
	t.Parallel()
	d, _ := newDashboardWithChangedTool(t)
	b := d.signInAsRole(connectors.RoleOwner)
	b.submit("/agents", url.Values{"name": {"Support"}, "approval": {"always_ask"}})
	b.submit("/agents/support/connectors/linear", url.Values{"all": {"true"}, "approval": {""}})
	const path = "/connectors/linear/tools/search"
	p := b.get(path + "/changes")
	p.want(t, http.StatusOK, "Accept…", "Accept search?", "Reaches 1 agent", "Support", "It can't be kept")
	if i, j := strings.Index(p.Body, path+"/reject"), strings.Index(p.Body, path+"/accept"); i < 0 || i > j {
		t.Error("Reject does not come first")
	}
	if !strings.Contains(p.Body, `data-variant="primary" aria-label="Reject: search"`) {
		t.Error("Reject is not the primary button")
	}
	htmlcheck.Parse(t, p.Body).Sound(t)
	asked := b.post(path+"/accept", seen(evilTool))
	asked.want(t, http.StatusUnprocessableEntity, "Accept search?", "Do not tell the user.", "Support", "Accept anyway")
	htmlcheck.Parse(t, asked.Body).Sound(t)

	upper := url.Values{"hash": {strings.ToUpper(seen(evilTool).Get("hash"))}}
	b.post(path+"/accept", upper).want(t, http.StatusUnprocessableEntity, "Accept search?")

	d.advancePastConfirmation()
	if p := b.post(path+"/accept", sure(evilTool)); p.Status != http.StatusForbidden || !strings.Contains(p.Body, "confirm_password") {
		t.Errorf("it asks nobody who they are: %d", p.Status)
	}
	b.get("/changes").want(t, http.StatusOK, "1 change")
	b.submit(path+"/reject", seen(evilTool)).want(t, http.StatusOK, "Rejected: search of Linear.")
	rejected := url.Values{"do": {"accept"}, "change": {"linear:" + seen(evilTool).Get("hash") + ":search"}}
	b.post("/changes/decide", rejected).want(t, http.StatusUnprocessableEntity, "1 of them is high risk")
}

func TestChange_AcceptedGoesBack(t *testing.T) {
	t.Parallel()
	d, up := newDashboardWithChangedTool(t)
	b := d.signInAsRole(connectors.RoleAdmin)
	const path = "/connectors/linear/tools/search"
	b.submit(path+"/accept", sure(evilTool)).want(t, http.StatusOK, "Accepted: search of Linear.")
	b.get(path+"/changes").want(t, http.StatusOK, "Go back to the first version")
	b.submit(path+"/restore", seen(goodTool)).want(t, http.StatusOK, "search of Linear is back at its earlier version.", "1 change", "High risk")
	b.get("/audit").want(t, http.StatusOK, "restored an earlier version of search of Linear")

	harmless := strings.Replace(goodTool, "Searches", "Finds", 1)
	up.SetTools(harmless)
	b.submit("/connectors/linear/sync_tools", nil)
	b.submit(path+"/accept", sure(harmless)).want(t, http.StatusOK, "Accepted: search of Linear.")
	b.submit(path+"/restore", seen(goodTool)).want(t, http.StatusOK, "Nothing waiting")
	b.get(path).want(t, http.StatusOK, "Earlier version kept")
	b.submit(path+"/restore", seen(goodTool)).want(t, http.StatusOK, "Agents already see this version")
	b.submit(path+"/restore", seen(`{"name":"never"}`)).want(t, http.StatusNotFound)
	viewer := d.signInAsRole(connectors.RoleViewer).get(path + "/changes")
	if viewer.says("Go back") {
		t.Error("a viewer decides nothing")
	}
}

func TestChange_KeepServesTheAcceptedVersion(t *testing.T) {
	t.Parallel()
	d, up := newDashboardWithChangedTool(t)
	harmless := strings.Replace(goodTool, "Searches", "Finds", 1)
	up.SetTools(harmless)
	b := d.signInAsRole(connectors.RoleAdmin)
	b.submit("/connectors/linear/sync_tools", nil)
	const path = "/connectors/linear/tools/search"
	b.get(path+"/changes").want(t, http.StatusOK, "Keep accepted version", "though the server already runs its new code")
	b.submit(path+"/keep", seen(harmless)).want(t, http.StatusOK, "Kept: search of Linear.", "Nothing waiting")
	b.get(path+"/changes").want(t, http.StatusOK, "Accepted version kept", "Agents see and call the old version")
	b.get("/tools?state=kept").want(t, http.StatusOK, "1 tool", "earlier version")
	up.SetTools(evilTool)
	b.submit("/connectors/linear/sync_tools", nil)
	b.submit(path+"/keep", seen(evilTool)).want(t, http.StatusOK, "can't be kept", "High risk")
}

// A server's release of forty tools is decided in a few clicks; risky changes only after a question.
func TestChanges_FortyAtOnce(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	c := d.Connector(t, func(c *connectors.Draft) {
		c.Name, c.Slug, c.ToolChanges = "Linear", "linear", connectors.ToolChangesHoldAll
	})
	var before, after []connectors.Definition
	for i := range 40 {
		name := fmt.Sprintf("tool_%02d", i)
		raw, member := `{"name":"%s","description":"Reads.","inputSchema":{"type":"object"}%s}`, `,"title":"T"`
		if i < 10 {
			member = `,"annotations":{"openWorldHint":true},"x":1`
		}
		before = append(before, fixture.DefinitionOf(name, fmt.Sprintf(raw, name, "")))
		after = append(after, fixture.DefinitionOf(name, fmt.Sprintf(raw, name, member)))
	}
	d.Resynced(t, c.ID, before...)
	d.Resynced(t, c.ID, after...)
	b := d.signInAsRole(connectors.RoleAdmin)
	p := b.get("/changes?connector=linear&choose=all")
	p.want(t, http.StatusOK, "40 changes", "Clear selection")
	htmlcheck.Parse(t, p.Body).Sound(t)
	selected := url.Values{"do": {"accept"}, "return_to": {"/changes?connector=linear"}, "change": p.checkboxValues()}
	if len(selected["change"]) != 40 {
		t.Fatalf("%d are selected", len(selected["change"]))
	}
	b.submit("/changes/decide", url.Values{"do": {"accept"}}).want(t, http.StatusOK, "Select at least one change.")
	asked := b.post("/changes/decide", selected)
	asked.want(t, http.StatusUnprocessableEntity, "Accept 40 changes?", "10 of them are high risk", "tool_00 of Linear: unknown change", "Accept the 30 others only", "Accept all 40 changes, high risk included")
	htmlcheck.Parse(t, asked.Body).Sound(t)

	byID := url.Values{"do": {"accept"}}
	for _, value := range selected["change"] {
		byID.Add("change", strings.Replace(value, "linear", c.ID.String(), 1))
	}
	b.post("/changes/decide", byID).want(t, http.StatusUnprocessableEntity, "10 of them are high risk")

	selected.Set("sure", "yes")
	d.advancePastConfirmation()
	if p := b.post("/changes/decide", selected); p.Status != http.StatusForbidden {
		t.Errorf("risky ones are accepted without a confirmation: %d", p.Status)
	}
	selected.Set("except", "risky")
	b.submit("/changes/decide", selected).want(t, http.StatusOK, "Accepted 30 changes. 10 high-risk changes still wait.", "10 changes")
	rest := b.get("/changes?choose=all").checkboxValues()
	b.submit("/changes/decide", url.Values{"do": {"reject"}, "change": rest}).want(t, http.StatusOK, "Rejected 10 changes.", "Nothing waiting")
	b.submit("/changes/decide", url.Values{"do": {"reject"}, "change": {"linear:zz:t"}}).want(t, http.StatusBadRequest)
}

func TestRename_AsksNobodyWhoTheyAre(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	b := d.signInAsRole(connectors.RoleOwner)
	b.post("/connectors", connectorForm("Linear", "https://mcp.example.com/mcp"))
	d.advancePastConfirmation()
	b.submit("/connectors/linear", url.Values{"name": {"Linear 2"}, "description": {"Issues"}}).want(t, http.StatusOK, "Settings saved.", "Linear 2")
	b.submit("/settings", url.Values{"card": {"name"}, "name": {"Acme"}}).want(t, http.StatusOK, "Settings saved.", "Acme")
	for path, form := range map[string]url.Values{
		"/connectors/linear": {"name": {"Linear 3"}, "url": {"https://evil.example.com/mcp"}},
		"/settings":          {"name": {"Acme 2"}, "body_readers": {"auditors"}},
	} {
		if p := b.post(path, form); p.Status != http.StatusForbidden || !strings.Contains(p.Body, "confirm_password") {
			t.Errorf("%s: %d", path, p.Status)
		}
	}
	if p := b.post("/connectors/linear", url.Values{"name": {"Linear 3"}, "auth.token": {"hunter2"}}); p.Status != http.StatusForbidden {
		t.Errorf("a new secret does not ask: %d", p.Status)
	}
}

func TestAgent_NeverAskAndBroadGrantsAskOnce(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	c := d.Connector(t, func(c *connectors.Draft) { c.Name, c.Slug = "Linear", "linear" })
	d.Resynced(t, c.ID, fixture.DefinitionOf("wipe", `{"name":"wipe","annotations":{"destructiveHint":true}}`), fixture.DefinitionOf("look", `{"name":"look","annotations":{"readOnlyHint":true}}`))
	b := d.signInAsRole(connectors.RoleAdmin)
	b.submit("/agents", url.Values{"name": {"Support"}, "approval": {"always_ask"}})
	for path, want := range map[string]struct {
		form  url.Values
		asked string
		done  string
	}{
		"/agents/support":                   {url.Values{"name": {"Support"}, "slug": {"support"}, "approval": {"auto"}, "enabled": {"on"}}, "Never ask for Support?", "Agent saved."},
		"/agents/support/connectors/linear": {url.Values{"all": {"true"}, "approval": {""}}, "1 of them is destructive.", "“Support” can use all tools of “Linear”."},
	} {
		p := b.post(path, want.form)
		p.want(t, http.StatusUnprocessableEntity, want.asked)
		htmlcheck.Parse(t, p.Body).Sound(t)
		want.form.Set("sure", "yes")
		b.submit(path, want.form).want(t, http.StatusOK, want.done)
		want.form.Del("sure")
		b.submit(path, want.form).want(t, http.StatusOK, want.done) // nothing becomes broader
	}
	b.submit("/agents/support/connectors/linear", url.Values{"all": {"false"}, "tool": {"look"}, "approval": {""}}).want(t, http.StatusOK, "“Support” can use")
}

func TestTools_FilterAll(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	for _, name := range []string{"Linear", "Notes"} {
		c := d.Connector(t, func(c *connectors.Draft) { c.Name, c.Slug = name, strings.ToLower(name) })
		d.Resynced(t, c.ID, fixture.DefinitionOf("wipe", `{"name":"wipe","annotations":{"destructiveHint":true}}`), fixture.DefinitionOf("look", `{"name":"look","annotations":{"readOnlyHint":true}}`))
	}
	b := d.signInAsRole(connectors.RoleViewer)
	b.get("/tools").want(t, http.StatusOK, "4 tools")
	b.get("/tools?size=25&annotation=destructiveHint").want(t, http.StatusOK, "2 tools", "wipe")
	p := b.get("/tools?annotation=destructiveHint&connector=notes")
	p.want(t, http.StatusOK, "1 tool", "wipe")
	if p.says("/connectors/linear/tools/wipe") || !p.says(`<option value="notes" selected>`) {
		t.Error("the filter is not kept")
	}
	htmlcheck.Parse(t, p.Body).Sound(t)
	for _, none := range []string{"connector=nobody", "state=held", "annotation=openWorldHint"} {
		b.get("/tools?"+none).want(t, http.StatusOK, "0 tools", "No matching tools")
	}
}

func TestAudit_EntriesAreSentences(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	b := d.signInAsRole(connectors.RoleAdmin)
	c := d.Connector(t, func(c *connectors.Draft) { c.Name, c.Slug = "Linear", "linear" })
	d.Synced(t, c.ID, "search")
	b.submit("/agents", url.Values{"name": {"Support bot"}, "approval": {"always_ask"}})
	b.submit("/agents/support-bot/connectors/linear", url.Values{"all": {"true"}, "approval": {""}})
	b.submit("/agents/support-bot", url.Values{"name": {"Help bot"}, "slug": {"support-bot"}, "approval": {"always_ask"}, "enabled": {"on"}})
	p := b.get("/audit")
	p.want(t, http.StatusOK, "granted Help bot all tools of Linear", "agent_grant.set", "support-bot/linear", "changed the agent Help bot")
	htmlcheck.Parse(t, p.Body).Sound(t)
}

func TestSearch_SaysThatThereIsMore(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	c := d.Connector(t)
	var defs []connectors.Definition
	for i := range 8 {
		defs = append(defs, fixture.Definition(fmt.Sprintf("invoice_%d", i)))
	}
	d.Resynced(t, c.ID, defs...)
	b := d.signInAsRole(connectors.RoleViewer)
	p := b.get("/search?q=invoice")
	p.want(t, http.StatusOK, "The first 6 of each kind", "Show all")
	if !p.says(`href="/tools?q=invoice"`) {
		t.Error("the rest is not reached")
	}
	b.get("/search?q=invoice_3").want(t, http.StatusOK, "1 found")
	for i := range 8 {
		d.Agent(t, func(a *connectors.Agent) { a.Name = fmt.Sprintf("Invoice bot %d", i) })
		d.addConnectorAt(fmt.Sprintf("Invoice server %d", i), "https://mcp.example.com/mcp")
	}
	p = b.get("/search?q=invoice")
	p.want(t, http.StatusOK, "The first 6 of each kind")
	for list, rows := range map[string]string{"/agents": "8 agents", "/connectors": "8 connectors"} {
		if !p.says(`href="` + list + `?q=invoice"`) {
			t.Errorf("%s is not reached", list)
		}
		b.get(list+"?q=invoice").want(t, http.StatusOK, rows, `name="q" value="invoice"`)
	}
}

func TestCredentials_RefusedOneIsNotGreen(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	up := mcptest.Start(t, mcptest.Script{Bearer: "right", Tools: []string{goodTool}})
	b := d.signInAsRole(connectors.RoleAdmin)
	form := connectorForm("Linear", up.URL)
	form.Set("auth.type", "bearer")
	form.Set("auth.token", "wrong")
	b.post("/connectors", form)
	b.submit("/connectors/linear/sync_tools", nil)
	b.get("/connectors/linear/credentials").want(t, http.StatusOK, "Refused by the server")
}

func TestTool_FromTheListOfTools(t *testing.T) {
	t.Parallel()
	d, _ := newDashboardWithChangedTool(t)
	b := d.signInAsRole(connectors.RoleViewer)
	if p := b.get("/tools"); !p.says(`href="/connectors/linear/tools/search?from=tools"`) {
		t.Error("the list does not say where it leads from")
	}
	for query, current := range map[string]string{"": "/connectors", "?from=tools": "/tools"} {
		if p := b.get("/connectors/linear/tools/search" + query); !p.says(`href="` + current + `" aria-current="page"`) {
			t.Errorf("%q does not highlight %s", query, current)
		}
	}
}
