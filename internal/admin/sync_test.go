package admin_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"patchbay/internal/connectors"
	"patchbay/internal/mcp/mcptest"
)

// addConnectorAt adds a connector without retries.
func (d *dashboard) addConnectorAt(name, address string) connectors.Connector {
	d.t.Helper()
	return d.Connector(d.t, func(c *connectors.Draft) {
		c.Name, c.Slug, c.URL, c.RetryAttempts = name, connectors.Slug(name, "c"), address, 0
	})
}

func TestSyncTellsHowManyToolsItFound(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	up := mcptest.Start(t, mcptest.Script{Tools: []string{mcptest.Tool("search"), mcptest.Tool("create_issue"), mcptest.Tool("close_issue")}})
	d.addConnectorAt("Linear", up.URL)
	b := d.signInAsRole(connectors.RoleMember)
	b.get("/connectors").want(t, http.StatusOK, "Never synced")
	b.submit("/connectors/linear/sync_tools", url.Values{"return_to": {"/connectors?q=lin"}}).
		want(t, http.StatusOK, "Discovered 3 tools from 'Linear'.", "Connected", "just now")
	if p := b.get("/connectors"); p.says("Discovered 3 tools") {
		t.Error("the notice stays")
	}
	b.get("/connectors/linear/tools").want(t, http.StatusOK, "create_issue", "Does close_issue.", "3 tools")
	b.get("/connectors/linear/tools?q=create").want(t, http.StatusOK, "create_issue", "1 tool")
	b.get("/connectors/linear/tools/create_issue").want(t, http.StatusOK, "Does create_issue.", "SHA-256")
	b.get("/connectors/linear/tools/nothing").want(t, http.StatusNotFound)
	b.get("/tools?q=search").want(t, http.StatusOK, "search", "Linear")
	b.get("/connectors/linear/runs").want(t, http.StatusOK, "Manual", "3 tools", "Done")
	b.get("/connectors/linear").want(t, http.StatusOK, "mcptest")
}

func TestSyncTellsWhyItFailed(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	up := mcptest.Start(t, mcptest.Script{On: map[string]mcptest.Handler{
		"initialize": mcptest.Status(http.StatusInternalServerError, "a body that may hold secrets"),
	}})
	d.addConnectorAt("Linear", up.URL)
	b := d.signInAsRole(connectors.RoleMember)
	p := b.submit("/connectors/linear/sync_tools", nil)
	p.want(t, http.StatusOK, "Sync failed: ", "HTTP 500")
	if strings.Count(p.Body, "may hold secrets") != 2 || !p.says("Server response") {
		t.Error("what the server said is no quote")
	}
	c, err := d.Door().Connectors().Get(t.Context(), "linear")
	if err != nil || c.LastError == nil || !p.says("Sync failed: "+c.LastError.Message) {
		t.Errorf("the alert is not the reason %+v, %v", c.LastError, err)
	}
	b.get("/connectors/linear/runs").want(t, http.StatusOK, "Failed", c.LastError.Message)
}

func TestPing_TellsWhetherServerResponds(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	up := mcptest.Start(t, mcptest.Script{})
	d.addConnectorAt("Linear", up.URL)
	d.addConnectorAt("Broken", mcptest.Start(t, mcptest.Script{On: map[string]mcptest.Handler{"ping": mcptest.Status(500, "a body that may hold secrets")}}).URL)
	b := d.signInAsRole(connectors.RoleMember)
	b.submit("/connectors/linear/ping", url.Values{"return_to": {"/connectors/linear/tools"}}).want(t, http.StatusOK, " ms, connect ", "Not synced yet")
	p := b.submit("/connectors/broken/ping", nil)
	if p.want(t, http.StatusOK, "Ping failed: ", "HTTP 500", "Server response"); strings.Count(p.Body, "may hold secrets") != 1 {
		t.Error("what the server said is no quote")
	}
	b.post("/connectors/none/ping", nil).want(t, http.StatusNotFound)
	d.signInAsRole(connectors.RoleViewer).post("/connectors/linear/ping", nil).want(t, http.StatusForbidden)
}

func TestSecondSyncIsToldOfTheFirst(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	c := d.addConnectorAt("Linear", "https://mcp.example.com/mcp")
	d.Run(t, c.ID)
	b := d.signInAsRole(connectors.RoleMember)
	b.submit("/connectors/linear/sync_tools", nil).want(t, http.StatusOK, "Sync failed: A sync is already running.", "Syncing")
}

func TestSyncReturnsToThePageItCameFrom(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	up := mcptest.Start(t, mcptest.Script{})
	d.addConnectorAt("Linear", up.URL)
	b := d.signInAsRole(connectors.RoleMember)
	for _, tc := range []struct{ field, referer, want string }{
		{"/connectors?status=ok", "", "/connectors?status=ok"},
		{"", d.server.URL + "/connectors/linear/tools?q=a", "/connectors/linear/tools?q=a"},
		{"//evil.example", "https://evil.example/connectors", "/connectors/linear"},
		{"", "", "/connectors/linear"},
	} {
		b.header.Set("Referer", tc.referer)
		if p := b.post("/connectors/linear/sync_tools", url.Values{"return_to": {tc.field}}); p.Location != tc.want {
			t.Errorf("field %q, referer %q: to %q, want %q", tc.field, tc.referer, p.Location, tc.want)
		}
	}
}

func TestSyncByAgentUsesItsCredential(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	up := mcptest.Start(t, mcptest.Script{Bearer: "token-of-support", Tools: []string{mcptest.Tool("search")}})
	b := d.signInAsRole(connectors.RoleAdmin)
	b.post("/agents", url.Values{"name": {"Support"}})
	b.post("/connectors", connectorForm("Linear", up.URL, "auth.type", "bearer", "credential_mode", "per_agent"))
	form := url.Values{"agent": {"support"}}
	b.submit("/connectors/linear/sync_tools", form).want(t, http.StatusOK, "Sync failed: ")
	b.post("/connectors/linear/agents/support/credential", url.Values{"token": {"token-of-support"}})
	b.submit("/connectors/linear/sync_tools", form).want(t, http.StatusOK, "Discovered 1 tools from 'Linear'.")
	b.get("/connectors/linear/runs").want(t, http.StatusOK, "as Support")
}

func TestSyncAllQueuesEveryEnabledConnector(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	b := d.signInAsRole(connectors.RoleMember)
	b.submit("/sync_tools", nil).want(t, http.StatusOK, "No connectors enabled.")
	d.Connector(t)
	d.Connector(t)
	d.Connector(t, func(c *connectors.Draft) { c.Enabled = false })
	d.ConnectorIn(t, d.Other)
	b.submit("/sync_tools", nil).want(t, http.StatusOK, "Syncing 2 connectors.")
}

func TestSync_ProgramsAreServedByTheAPI(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	up := mcptest.Start(t, mcptest.Script{})
	d.addConnectorAt("Linear", up.URL)
	for name, tc := range map[string]struct {
		header http.Header
		want   int
	}{
		"a key":                     {http.Header{"Authorization": {"Bearer pb_key_x"}}, http.StatusTeapot},
		"a session that reads JSON": {http.Header{"Accept": {"application/json"}}, http.StatusTeapot},
		"a session that sends JSON": {http.Header{"Content-Type": {"application/json"}}, http.StatusTeapot},
		"a browser":                 {http.Header{"Accept": {"text/html,application/xhtml+xml,*/*;q=0.8"}}, http.StatusSeeOther},
	} {
		b := d.signInAsRole(connectors.RoleMember)
		b.header = tc.header
		if p := b.post("/connectors/linear/sync_tools", nil); p.Status != tc.want {
			t.Errorf("%s: %d, want %d", name, p.Status, tc.want)
		}
	}
}
