package admin_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/mcp/mcptest"
	"patchbay/internal/oauth/oauthtest"
	"patchbay/internal/store"
)

func TestFirstSteps_FollowTheTenant(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	admin := d.signInAsRole(connectors.RoleAdmin)
	admin.get("/").want(t, http.StatusOK, "Get started", "0 of 4 done", "Welcome to Patchbay")
	if d.signInAsRole(connectors.RoleMember).get("/").says("Get started") {
		t.Error("a member gets the checklist")
	}
	c := d.addConnectorAt("Linear", "https://linear.example.com/mcp")
	admin.get("/").want(t, http.StatusOK, "1 of 4 done", `href="/start/agent"`)
	a := d.Agent(t)
	admin.get("/").want(t, http.StatusOK, "2 of 4 done", `href="/agents/`+a.Slug+`/access"`)
	if err := d.Door().Agents().SetGrant(t.Context(), connectors.Grant{AgentID: a.ID, ConnectorID: c.ID, AllTools: true}.Normalized()); err != nil {
		t.Fatal(err)
	}
	admin.get("/").want(t, http.StatusOK, "3 of 4 done", `href="/agents/`+a.Slug+`/connect"`)
	call := newCall(a, c, connectors.CallSuccess)
	call.Outcome, call.CompletedAt = connectors.OutcomeOK, new(time.Now())
	own := call
	own.ID, own.Source = newCallID(), connectors.SourceDashboard
	addCalls := func(calls ...connectors.ToolCall) {
		for _, one := range calls {
			if err := d.St.System().Calls().EndCalls(t.Context(), []store.OwnedCall{{Tenant: d.Tenant, ToolCall: one}}); err != nil {
				t.Fatal(err)
			}
		}
	}
	addCalls(own)
	admin.get("/").want(t, http.StatusOK, "3 of 4 done") // a person's own call is no agent's
	addCalls(call)
	if admin.get("/").says("Get started") {
		t.Error("the checklist stays after the first agent call")
	}
}

// A stream that begins after the last step was done shows it, if the page has the checklist.
func TestFirstSteps_LastStepIsShownByALateStream(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	admin := d.signInAsRole(connectors.RoleAdmin)
	c, a := d.addConnectorAt("Linear", "https://linear.example.com/mcp"), d.Agent(t)
	d.Grant(t, a.ID, c.ID)
	page := admin.get("/")
	page.want(t, http.StatusOK, "3 of 4 done")
	if !strings.Contains(page.Body, "on=home&amp;steps=shown") {
		t.Error("the page does not say that it has the checklist")
	}
	call := newCall(a, c, connectors.CallSuccess)
	call.Outcome, call.CompletedAt = connectors.OutcomeOK, new(time.Now())
	if err := d.St.System().Calls().EndCalls(t.Context(), []store.OwnedCall{{Tenant: d.Tenant, ToolCall: call}}); err != nil {
		t.Fatal(err)
	}
	for _, topic := range []string{"home", "notices"} {
		if event := admin.openEventsAt("/events?on=" + topic + "&steps=shown").until("4 of 4 done"); !strings.Contains(event, "#first-steps") {
			t.Errorf("%s: the last step is shown by %q", topic, event)
		}
		without := admin.openEventsAt("/events?on=" + topic)
		for event := ""; !strings.Contains(event, "Nothing needs you."); {
			if event = without.next(); event == "" || strings.Contains(event, "#first-steps") {
				t.Fatalf("%s: a page without the checklist gets %q", topic, event)
			}
		}
	}
}

func TestFirstSteps_AreDismissedForTheTenant(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	d.signInAsRole(connectors.RoleMember).post("/start/dismiss", nil).want(t, http.StatusForbidden)
	d.signInAsRole(connectors.RoleAdmin).post("/start/dismiss", nil).want(t, http.StatusSeeOther)
	if d.signInAsRole(connectors.RoleOwner).get("/").says("Get started") {
		t.Error("the checklist is shown after it was dismissed")
	}
}

func TestAddedConnectorIsSyncedAndShown(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	up := mcptest.Start(t, mcptest.Script{Tools: []string{mcptest.Tool("create_issue"), mcptest.Tool("search")}})
	d.Agent(t)
	admin := d.signInAsRole(connectors.RoleAdmin)
	p := admin.post("/connectors", connectorForm("", strings.TrimPrefix(up.URL, "http://")))
	if p.Status != http.StatusSeeOther || !strings.HasSuffix(p.Location, "/start") {
		t.Fatalf("%d to %q: %s", p.Status, p.Location, plainText(p.Body))
	}
	slug := strings.TrimSuffix(strings.TrimPrefix(p.Location, "/connectors/"), "/start")
	start := admin.get(p.Location)
	start.want(t, http.StatusOK, "2 tools", `href="/connectors/`+slug+`/tools/search#try"`, "Create agent and token", "Or grant access to:")
	d.signInAsRole(connectors.RoleMember).get(p.Location).want(t, http.StatusForbidden)

	failing := admin.post("/connectors", connectorForm("Away", "http://127.0.0.1:9/mcp"))
	admin.get(failing.Location).want(t, http.StatusOK, "Sync failed", "The server can't be reached.", "Sync again")
	account := admin.post("/connectors", connectorForm("Account", up.URL, "auth.type", "oauth2"))
	if account.Location != "/connectors/account/credentials" {
		t.Errorf("a connector without its account leads to %q", account.Location)
	}
}

func TestImportSyncsWhatIsComplete(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	up := mcptest.Start(t, mcptest.Script{Tools: []string{mcptest.Tool("search")}})
	admin := d.signInAsRole(connectors.RoleAdmin)
	admin.post("/connectors/import", url.Values{"document": {
		`{"mcpServers": {"one": {"url": "` + up.URL + `"}, "two": {"url": "` + up.URL + `/2", "auth": {"type": "oauth2"}}}}`,
	}}).want(t, http.StatusOK, "Syncing 1 connector.")
	runs, err := d.Door().Syncs().List(t.Context(), d.findConnector("one").ID, store.Page{})
	if err != nil || len(runs.Items) != 1 {
		t.Errorf("runs of the imported connector: %v, %v", runs.Items, err)
	}
}

func TestAgentIsSetUpInOneForm(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	c := d.addConnectorAt("Linear", "https://linear.example.com/mcp")
	admin := d.signInAsRole(connectors.RoleOwner)
	admin.get("/start/agent?connector=linear").want(t, http.StatusOK, `value="linear" checked`)
	admin.post("/start/agent", url.Values{"name": {""}, "connector": {"linear"}}).want(t, http.StatusUnprocessableEntity, "Enter a name.", `value="linear" checked`)
	admin.post("/start/agent", url.Values{"name": {"Claude"}}).want(t, http.StatusUnprocessableEntity, "Select at least one connector.")
	admin.post("/start/agent", url.Values{"name": {"Claude"}, "connector": {"nothing"}}).want(t, http.StatusNotFound)
	if _, err := d.Door().Agents().Get(t.Context(), "claude"); err == nil {
		t.Error("an agent was made by a form that failed")
	}
	p := admin.post("/start/agent", url.Values{"name": {"Claude"}, "connector": {"linear"}, "approval": {"auto"}})
	p.want(t, http.StatusOK, "Claude is ready", "pb_agent_", "claude mcp add")
	a, err := d.Door().Agents().Get(t.Context(), "claude")
	if err != nil || a.Approval != connectors.ApprovalAuto || !a.Enabled {
		t.Fatalf("%+v, %v", a, err)
	}
	if g, err := d.Door().Agents().Grant(t.Context(), a.ID, c.ID); err != nil || !g.AllTools {
		t.Errorf("grant %+v, %v", g, err)
	}
	if admin.get("/agents/claude/connect").says(between(p.Body, "Bearer ", "&#34;")) {
		t.Error("the token is shown twice")
	}
}

func TestConnectionTest_RecognisesOAuth(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	as := oauthtest.Start(t, oauthtest.Behaviour{})
	server := as.Protect(t, oauthtest.ResourceBehaviour{})
	host := strings.SplitN(strings.TrimPrefix(server.URL, "http://"), "/", 2)[0]
	admin := d.signInAsRole(connectors.RoleAdmin)
	admin.post("/connectors/test", connectorForm("Linear", server.URL)).
		want(t, http.StatusOK, "This server uses OAuth at "+host+".", "Use OAuth", "Choose “Account (OAuth)” under Authentication.")
	p := admin.post("/connectors/test", connectorForm("Linear", server.URL, "auth.type", "oauth2"))
	p.want(t, http.StatusOK, "Reachable. Connect an account after adding.", `data-state="warn"`)
	if p.says("No connection") {
		t.Error("a server that asks for an account counts as unreachable")
	}
	bare := as.Protect(t, oauthtest.ResourceBehaviour{Challenge: oauthtest.NoChallenge})
	p = admin.post("/connectors/test", connectorForm("Linear", bare.URL))
	p.want(t, http.StatusOK, "No connection", "Choose a type under Authentication.")
	if p.says("Use OAuth") {
		t.Error("OAuth is offered though the server names none")
	}
}

func TestConnectionTest_TellsTheSession(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	admin := d.signInAsRole(connectors.RoleAdmin)
	const long = "0af7651916cd43dd8448eb211c80319c"
	for id, says := range map[string]string{long: "Mcp-Session-Id 0af76519…", "s-1": "Mcp-Session-Id issued", "": ""} {
		up := mcptest.Start(t, mcptest.Script{SessionID: id, Tools: mcptest.Tools(1)})
		p := admin.post("/connectors/test", connectorForm("Linear", up.URL))
		if !p.says(says) || p.says("Mcp-Session-Id") != (says != "") || p.says(long) {
			t.Errorf("session %q: %s", id, plainText(p.Body))
		}
	}
}

func TestConnectionTest_LeavingTheFieldFoldsTheResult(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	up := mcptest.Start(t, mcptest.Script{Tools: mcptest.Tools(1)})
	admin := d.signInAsRole(connectors.RoleAdmin)
	admin.header.Set("HX-Request", "true")
	form := connectorForm("Linear", up.URL)
	if p := admin.post("/connectors/test", form); !strings.Contains(p.Body, `<details class="fold" open>`) {
		t.Error("the result of the button is folded")
	}
	form.Set("auto", "true")
	if p := admin.post("/connectors/test", form); strings.Contains(p.Body, `<details class="fold" open>`) || !p.says("answered with") {
		t.Error("the result of leaving the field is not folded")
	}
	form.Set("url", "")
	form.Set("auth.type", "bearer")
	admin.post("/connectors/test", form).want(t, http.StatusUnprocessableEntity, `data-field="url"`, `data-field="auth.token"`)
}

func TestSampleTenantIsMarked(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	d.addConnectorAt("Linear", "https://linear.example.com/mcp")
	owner := d.signInAsRole(connectors.RoleOwner)
	if owner.get("/").says("Sample data") {
		t.Error("a tenant is marked as a sample")
	}
	if err := d.St.System().MarkSample(t.Context(), d.Tenant); err != nil {
		t.Fatal(err)
	}
	owner.get("/").want(t, http.StatusOK, "Sample data", "patchbay seed --remove")
	owner.get("/connectors").want(t, http.StatusOK, "Sample data")
}

func TestSetup_NamesTheOrganisation(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	visitor := d.browser()
	visitor.get("/login").want(t, http.StatusOK, "Open the setup link that Patchbay printed in its terminal.")
	if visitor.get("/login").says("single sign-on") {
		t.Error("single sign-on is offered though there is none")
	}
	token, err := d.auth.SetupLink(t.Context(), d.Tenant)
	if err != nil {
		t.Fatal(err)
	}
	form := url.Values{"token": {token.Reveal()}, "organisation": {strings.Repeat("x", 101)}, "name": {"Ada"}, "email": {"ada@example.com"}, "password": {password.Reveal()}}
	visitor.post("/setup", form).want(t, http.StatusUnprocessableEntity, "Must be 1–100 characters.")
	form.Set("organisation", "")
	form.Set("password", "short")
	if p := visitor.post("/setup", form); strings.Count(p.Body, "At least 10 characters") > 1 {
		t.Error("the rule of passwords is told twice")
	}
	form.Set("organisation", " Keller & Co ")
	form.Set("password", password.Reveal())
	visitor.submit("/setup", form).want(t, http.StatusOK, "Keller & Co")
	if visitor.get("/logout"); d.browser().get("/login").says("setup link") {
		t.Error("the setup link is named after the set-up")
	}
}
