package api_test

import (
	"net/http"
	"testing"

	"patchbay/internal/connectors"
	"patchbay/internal/mcp/mcptest"
)

func TestPingConnector_ShowsServerOrItsFailure(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	up := mcptest.Start(t, mcptest.Script{})
	gone := mcptest.Start(t, mcptest.Script{})
	gone.Stop()
	member := w.createKey(t, connectors.RoleMember)
	c := w.Connector(t, func(d *connectors.Draft) { d.URL, d.RetryAttempts = up.URL, 0 })
	got := w.call(t, member, http.MethodPost, "/api/v1/connectors/"+c.Slug+"/ping", nil).want(http.StatusOK)
	server, _ := got["server"].(map[string]any)
	if got["ok"] != true || got["error"] != nil || server["name"] != "mcptest" {
		t.Errorf("%v", got)
	}
	c = w.Connector(t, func(d *connectors.Draft) { d.URL, d.RetryAttempts = gone.URL, 0 })
	got = w.call(t, member, http.MethodPost, "/api/v1/connectors/"+c.Slug+"/ping", nil).want(http.StatusOK)
	failure, _ := got["error"].(map[string]any)
	if got["ok"] != false || failure["code"] != "unreachable" || got["connect_ms"] != 0.0 {
		t.Errorf("%v", got)
	}
}

func TestPingConnector_NeedsCredentialAndRole(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.Connector(t, func(d *connectors.Draft) {
		d.Auth.Type, d.CredentialMode = connectors.AuthOAuth2, connectors.CredentialPerAgent
	})
	a := w.Agent(t)
	path := "/api/v1/connectors/" + c.Slug + "/ping"
	w.call(t, w.createKey(t, connectors.RoleViewer), http.MethodPost, path, nil).problem(http.StatusForbidden, "denied")
	w.call(t, w.createKey(t, connectors.RoleAdmin), http.MethodPost, path, map[string]any{"agent": a.Slug}).problem(http.StatusConflict, "credential-required")
}
