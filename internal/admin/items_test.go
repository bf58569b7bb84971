package admin_test

import (
	"context"
	"net/http"
	"net/url"
	"testing"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/mcp/mcptest"
	"patchbay/internal/store"
	"patchbay/internal/toolcall"
)

func (d *dashboard) saveItems(c connectors.Connector, items ...connectors.Item) {
	d.t.Helper()
	if _, err := d.Door().Connectors().SaveItems(d.t.Context(), c.ID, connectors.HashItems(items), items); err != nil {
		d.t.Fatal(err)
	}
}

var (
	greetPrompt   = connectors.Item{Kind: connectors.ItemPrompt, Key: "greet", Raw: []byte(`{"name":"greet","title":"Say hello","arguments":[{"name":"color","required":true},{"name":"size"}]}`)}
	badPrompt     = connectors.Item{Kind: connectors.ItemPrompt, Key: "bad", Raw: []byte(`{"name":"bad","arguments":{}}`)}
	notesResource = connectors.Item{Kind: connectors.ItemResource, Key: "file:///notes", Raw: []byte(`{"uri":"file:///notes","name":"Notes","mimeType":"text/markdown"}`)}
	dayTemplate   = connectors.Item{Kind: connectors.ItemTemplate, Key: "file:///days/{day}", Raw: []byte(`{"uriTemplate":"file:///days/{day}","name":"Day"}`)}
)

func TestConnector_ShowsPromptsAndResources(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	c := d.addConnectorAt("Linear", "https://mcp.example.com/mcp")
	b := d.signInAsRole(connectors.RoleViewer)
	b.get("/connectors/linear/prompts").want(t, http.StatusOK, "Not synced yet")
	d.Synced(t, c.ID, "search")
	b.get("/connectors/linear/prompts").want(t, http.StatusOK, "No prompts", "need no review")
	b.get("/connectors/linear/resources").want(t, http.StatusOK, "No resources")
	d.saveItems(c, greetPrompt, badPrompt, notesResource, dayTemplate)
	b.get("/connectors/linear/prompts").want(t, http.StatusOK, "2 prompts", "greet", "Say hello", "Arguments: color, size (optional)", "malformed")
	b.get("/connectors/linear/prompts?q=HELLO").want(t, http.StatusOK, "1 prompt", "greet")
	b.get("/connectors/linear/prompts?q=zebra").want(t, http.StatusOK, "No matches", "Show all")
	b.get("/connectors/linear/resources").want(t, http.StatusOK, "1 resource", "file:///notes", "text/markdown", "1 resource template", "file:///days/{day}")
	b.get("/connectors/linear/resources?q=notes").want(t, http.StatusOK, "1 resource", "file:///notes")
}

func TestGrant_ChoosesPromptsAndResources(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	a := d.Agent(t, func(a *connectors.Agent) { a.Name, a.Slug, a.Approval = "Support", "support", connectors.ApprovalAuto })
	c := d.addConnectorAt("Linear", "https://mcp.example.com/mcp")
	d.Synced(t, c.ID, "search")
	d.saveItems(c, greetPrompt, notesResource, dayTemplate)
	b, path := d.signInAsRole(connectors.RoleAdmin), "/agents/support/connectors/linear"
	b.get(path).want(t, http.StatusOK, "Default", "Default: all if you grant all tools, otherwise none.")
	b.submit(path, url.Values{"all": {"false"}, "tool": {"search"}, "approval": {""}}).want(t, http.StatusOK, "1 of 1 tool")
	b.get(path).want(t, http.StatusOK, "No prompts or resources included.")
	b.get("/agents/support/resources").want(t, http.StatusOK, "No prompts or resources")
	b.submit(path, url.Values{"all": {"false"}, "tool": {"search"}, "approval": {""}, "prompts": {"listed"}, "resources": {"listed"}}).want(t, http.StatusOK, "Prompts and listed resources")
	want := connectors.Grant{AgentID: a.ID, ConnectorID: c.ID, Tools: []string{"search"}, Prompts: connectors.PromptsListed, Resources: connectors.ResourcesListed}
	d.wantGrant(want)
	p := b.get("/agents/support/resources")
	p.want(t, http.StatusOK, "mcp_linear__greet", "patchbay+linear:file:///notes", "Usable")
	if p.says("file:///days") {
		t.Error("the agent sees a template without a grant")
	}
	b.get("/exports/agents/support/resources").want(t, http.StatusOK, "prompt,mcp_linear__greet,linear,greet,true", "file:///notes")
	b.get("/exports/connectors/linear/prompts").want(t, http.StatusOK, "prompt,greet")
	b.get("/exports/connectors/linear/resources?format=json").want(t, http.StatusOK, "file:///notes", "file:///days/{day}")
	b.get("/agents/support/resources?q=zebra").want(t, http.StatusOK, "No matches")
	b.get("/agents/support/tools/mcp_linear__search").want(t, http.StatusOK, "Also included", "Prompts and listed resources")
	b.submit(path, url.Values{"all": {"false"}, "tool": {"search"}, "approval": {"always_ask"}, "prompts": {"listed"}, "resources": {"listed_and_templates"}}).want(t, http.StatusOK, "Prompts, resources and templates")
	b.get(path).want(t, http.StatusOK, "They need no approval unless the approval rule includes them.")
	b.get("/agents/support/resources").want(t, http.StatusOK, "file:///days/{day}", "Usable")
	b.post(path, url.Values{"all": {"true"}, "prompts": {"some"}}).want(t, http.StatusUnprocessableEntity)
}

func TestGrant_FromBeforeSaysThatItIncludesEverything(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	a := d.Agent(t, func(a *connectors.Agent) { a.Name, a.Slug, a.Approval = "Support", "support", connectors.ApprovalAuto })
	c := d.addConnectorAt("Linear", "https://mcp.example.com/mcp")
	d.AsSystem(t, "insert into agent_grants (tenant_id, agent_id, connector_id, all_tools, tools) values ('"+d.Tenant.String()+"', '"+a.ID.String()+"', '"+c.ID.String()+"', false, '{search}')", nil)
	d.signInAsRole(connectors.RoleAdmin).get("/agents/support/connectors/linear").want(t, http.StatusOK,
		"Includes: prompts, resources and templates.", "Access granted earlier includes all of them, even with selected tools.")
}

// useItem uses a prompt or a resource of the connector Linear in the background.
func (d *dashboard) useItem(a connectors.Agent, kind connectors.CallKind, method, name, params string) chan error {
	d.t.Helper()
	view, err := d.access.LoadUncached(d.t.Context(), d.Tenant, connectors.Ref(a.Slug))
	if err != nil {
		d.t.Fatal(err)
	}
	done, ctx := make(chan error, 1), context.WithoutCancel(d.t.Context())
	go func() {
		_, err := d.calls.SendRequest(ctx, toolcall.UpstreamRequest{
			View: view, Connector: view.Connector("linear"), Kind: kind, Method: method, Name: name, Params: []byte(params), Source: connectors.SourceGateway,
		})
		done <- err
	}()
	return done
}

// waitingApproval returns the approval that waits, once there is one.
func (d *dashboard) waitingApproval() connectors.Approval {
	d.t.Helper()
	again := time.NewTicker(10 * time.Millisecond)
	defer again.Stop()
	for deadline := time.After(30 * time.Second); ; {
		list, err := d.Door().Calls().WaitingApprovals(d.t.Context(), store.Page{})
		if err == nil && len(list.Items) > 0 {
			return list.Items[0]
		}
		select {
		case <-again.C:
		case <-deadline:
			d.t.Fatal("nothing waits")
		}
	}
}

func TestApprovals_OfPromptsAndResources(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	up := mcptest.Start(t, mcptest.Script{On: map[string]mcptest.Handler{
		"prompts/get":    mcptest.Answer("application/json", func(c mcptest.Call) string { return mcptest.Result(c, `{"messages":[]}`) }),
		"resources/read": mcptest.Answer("application/json", func(c mcptest.Call) string { return mcptest.Result(c, `{"contents":[]}`) }),
	}})
	c := d.addConnectorAt("Linear", up.URL)
	d.saveItems(c, greetPrompt, notesResource)
	a := d.Agent(t, func(a *connectors.Agent) {
		a.Name, a.Slug, a.Approval = "Support", "support", connectors.ApprovalAskAll
	})
	d.Grant(t, a.ID, c.ID)
	b := d.signInAsRole(connectors.RoleMember)
	for _, tc := range []struct {
		kind                       connectors.CallKind
		method, name, params, says string
		kindName                   string
	}{
		{connectors.CallPrompt, "prompts/get", "greet", `{"name":"greet","arguments":{"color":"<red>"}}`, "Uses a prompt. Read-only.", "Prompt · Linear"},
		{connectors.CallResource, "resources/read", "file:///notes", `{"uri":"file:///notes"}`, "Reads a resource.", "Resource · Linear"},
	} {
		done := d.useItem(a, tc.kind, tc.method, tc.name, tc.params)
		path := "/approvals/" + d.waitingApproval().ID.String()
		b.get("/approvals").want(t, http.StatusOK, tc.says, tc.name, "Approve for 2 hours", "Support")
		p := b.get(path)
		p.want(t, http.StatusOK, tc.says, "Approve for 2 hours")
		if p.says("Open tool") || tc.kind == connectors.CallPrompt && !p.says(`"<red>"`) {
			t.Errorf("%s: the page has a link to a tool, or no arguments", tc.kind)
		}
		b.submit(path+"/approve", url.Values{"allow": {"2h"}}).want(t, http.StatusOK, "Standing approval granted for 2 hours; revoke it on the agent's page.")
		if err := <-done; err != nil {
			t.Errorf("%s: %v", tc.kind, err)
		}
		if err := <-d.useItem(a, tc.kind, tc.method, tc.name, tc.params); err != nil {
			t.Errorf("%s: an allowed use: %v", tc.kind, err)
		}
		b.get("/agents/support").want(t, http.StatusOK, "Standing approvals", tc.name, tc.kindName, "in 2 hours")
		end := "/agents/support/connectors/linear/allowances/" + url.PathEscape(tc.name) + "/end"
		b.post(end, nil).want(t, http.StatusNotFound) // of a tool
		b.submit(end, url.Values{"kind": {string(tc.kind)}}).want(t, http.StatusOK, "Standing approval revoked: "+tc.name+" needs approval again.")
		if b.get("/agents/support").says("Standing approvals") {
			t.Errorf("%s: the ended allowance is listed", tc.kind)
		}
		done = d.useItem(a, tc.kind, tc.method, tc.name, tc.params)
		b.submit("/approvals/"+d.waitingApproval().ID.String()+"/deny", url.Values{"reason": {"not now"}}).want(t, http.StatusOK, "Denied: ")
		if err := <-done; err == nil {
			t.Errorf("%s: a denied use is served", tc.kind)
		}
	}
}
