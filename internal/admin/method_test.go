package admin_test

import (
	"net/http"
	"net/url"
	"testing"

	"patchbay/internal/connectors"
	"patchbay/internal/mcp/mcptest"
	"patchbay/internal/store"
)

// addMethodConnector adds the connector Linear, which allows acme/* and notifications/acme/done.
func (d *dashboard) addMethodConnector(opts ...func(*connectors.Draft)) (connectors.Connector, *mcptest.Server) {
	d.t.Helper()
	up := mcptest.Start(d.t, mcptest.Script{On: map[string]mcptest.Handler{
		"acme/search": mcptest.Answer("application/json", func(c mcptest.Call) string { return mcptest.Result(c, `{"hits":[1,2]}`) }),
		"acme/fail":   mcptest.Answer("application/json", func(c mcptest.Call) string { return mcptest.Failure(c, -32050, "No such index") }),
	}})
	return d.Connector(d.t, append([]func(*connectors.Draft){func(c *connectors.Draft) {
		c.Name, c.Slug, c.URL, c.RetryAttempts, c.Methods = "Linear", "linear", up.URL, 0, []string{"acme/*", "notifications/acme/done"}
	}}, opts...)...), up
}

func TestMethod_AdminSendsOneAndSeesWhatCame(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	_, up := d.addMethodConnector()
	d.Connector(t, func(c *connectors.Draft) { c.Name, c.Slug = "Plain", "plain" })
	b, path := d.signInAsRole(connectors.RoleAdmin), "/connectors/linear/methods"
	b.get("/connectors/linear").want(t, http.StatusOK, "Non-MCP methods", "acme/*, notifications/acme/done", path)
	if b.get("/connectors/plain").says("Non-MCP methods") || d.signInAsRole(connectors.RoleMember).get("/connectors/linear").says("Non-MCP methods") {
		t.Error("the form is on a page where nothing may be sent")
	}
	send := func(method, params string) page {
		return b.post(path, url.Values{"method": {method}, "params": {params}})
	}
	send("acme/search", `{"q": "<x>"}`).want(t, http.StatusOK, "Done", "hits", "Open call", `"<x>"`)
	if last := up.Calls()[len(up.Calls())-1]; last.Method != "acme/search" {
		t.Errorf("the server got %+v", last)
	}
	send("acme/fail", "").want(t, http.StatusOK, "No such index", "Open call")
	send("notifications/acme/done", "").want(t, http.StatusOK, "Done", "A notification has no result.")
	sent := len(up.Calls())
	send("other/search", "").want(t, http.StatusUnprocessableEntity, "allow this method", "other/search")
	for _, params := range []string{"[1]", "7", "{", "null"} {
		send("acme/search", params).want(t, http.StatusUnprocessableEntity, "Enter a JSON object.", "acme/search")
	}
	if n := len(up.Calls()); n != sent {
		t.Errorf("%d refused requests were sent", n-sent)
	}
	list, err := d.Door().Calls().List(t.Context(), store.CallFilter{})
	if err != nil || len(list.Items) != 3 {
		t.Fatalf("%d calls, %v", len(list.Items), err)
	}
	for _, call := range list.Items {
		if call.Kind != connectors.CallMethod || call.Source != connectors.SourceDashboard || call.Caller == "" || call.AgentID != nil {
			t.Errorf("%+v", call)
		}
	}
}

func TestMethod_WithAnAgentsCredential(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	c, up := d.addMethodConnector(func(c *connectors.Draft) {
		c.Auth.Type, c.CredentialMode = connectors.AuthBearer, connectors.CredentialPerAgent
	})
	a := d.Agent(t, func(a *connectors.Agent) { a.Slug = "support" })
	sealed, err := connectors.Secret{Token: "t-7"}.Encode()
	if err != nil {
		t.Fatal(err)
	}
	d.Credential(t, c.ID, &a.ID, sealed)
	b := d.signInAsRole(connectors.RoleAdmin)
	for agent, says := range map[string]string{"": "Name the agent.", "nobody": "No such agent."} {
		b.post("/connectors/linear/methods", url.Values{"method": {"acme/search"}, "agent": {agent}}).want(t, http.StatusUnprocessableEntity, says)
	}
	b.post("/connectors/linear/methods", url.Values{"method": {"acme/search"}, "agent": {"support"}}).want(t, http.StatusOK, "hits")
	if last := up.Calls()[len(up.Calls())-1]; last.Header.Get("Authorization") != "Bearer t-7" {
		t.Errorf("the server got %v", last.Header)
	}
}
