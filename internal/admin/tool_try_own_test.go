package admin_test

import (
	"net/http"
	"net/url"
	"testing"

	"patchbay/internal/connectors"
	"patchbay/internal/mcp/mcptest"
)

const readOnlySearch = `{"name":"search","description":"Finds things.","inputSchema":{"type":"object","properties":{"q":{"type":"string"}}},"annotations":{"readOnlyHint":true}}`

// addUngrantedServer adds a connector with that tool, which no agent was granted.
func (d *dashboard) addUngrantedServer(tool string) *mcptest.Server {
	d.t.Helper()
	up := mcptest.Start(d.t, mcptest.Script{Tools: []string{tool}, On: map[string]mcptest.Handler{
		"tools/call": mcptest.Answer("application/json", func(c mcptest.Call) string {
			return mcptest.Result(c, `{"content":[{"type":"text","text":"3 found"}]}`)
		}),
	}})
	d.addConnectorAt("Linear", up.URL)
	d.signInAsRole(connectors.RoleMember).submit("/connectors/linear/sync_tools", nil).want(d.t, http.StatusOK, "Discovered 1 tools")
	return up
}

func TestToolTry_AdminNeedsNoAgent(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	up := d.addUngrantedServer(readOnlySearch)
	admin, member, path := d.signInAsRole(connectors.RoleAdmin), d.signInAsRole(connectors.RoleMember), "/connectors/linear/tools/search"
	admin.get(path).want(t, http.StatusOK, "Run as", "Myself")
	if p := member.get(path); p.says("Myself") || !p.says("No enabled agent has access to this one.") {
		t.Error("a member is offered a call as themselves")
	}
	form := url.Values{"agent": {":"}, "as": {"json"}, "json": {`{"q":"x"}`}}
	member.post(path+"/try", form).want(t, http.StatusForbidden)
	p := admin.post(path+"/try", form)
	p.want(t, http.StatusOK, "Done", "3 found", "Open call")
	call := between(p.Body, `href="/calls/`, `"`)
	admin.get("/calls/"+call).want(t, http.StatusOK, "None: an admin", "Called by", "Try again")
	if p := member.get("/calls/" + call); p.says("Try again") {
		t.Error("a member is offered to repeat an admin's call")
	}
	admin.get(path+"?call="+call).want(t, http.StatusOK, `value="x"`)
	admin.get("/calls").want(t, http.StatusOK, call)
	admin.get("/audit?action=tool.try").want(t, http.StatusOK, "tool.try", "linear/search")
	admin.post(path+"/try", url.Values{"agent": {":nobody"}, "as": {"json"}, "json": {`{}`}}).want(t, http.StatusNotFound, "agent")
	if n := len(up.Calls()) - callsBefore(up); n != 1 {
		t.Errorf("%d calls were sent", n)
	}
}

func TestToolTry_AsksAnAdminBeforeWhatMayDoHarm(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	up := d.addUngrantedServer(searchTool)
	tool, err := d.Door().Tools().Get(t.Context(), d.addLinear(), "search")
	if err != nil {
		t.Fatal(err)
	}
	b, path := d.signInAsRole(connectors.RoleAdmin), "/connectors/linear/tools/search/try"
	form := url.Values{"agent": {":"}, "as": {"form"}, "definition": {tool.Hash.String()}, "arg.0": {"kept"}, "arg.1": {"7"}}
	b.post(path, form).want(t, http.StatusConflict, "may change or delete data", "Confirm and run", `value="kept"`, tool.Hash.String())
	form.Set("confirm", "another")
	b.post(path, form).want(t, http.StatusConflict, "Confirm and run")
	if n := len(up.Calls()) - callsBefore(up); n != 0 {
		t.Errorf("%d calls were sent without a confirmation", n)
	}
	form.Set("confirm", tool.Hash.String())
	if p := b.post(path, form); p.says("Confirm and run") {
		t.Error("a confirmed call asks again")
	} else {
		p.want(t, http.StatusOK, "3 found")
	}
}

func TestToolTry_OffersTheAccountsOfAgents(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	m := d.createMember(connectors.RoleAdmin)
	up := mcptest.Start(t, mcptest.Script{Tools: []string{readOnlySearch}, On: map[string]mcptest.Handler{
		"tools/call": mcptest.Answer("application/json", func(c mcptest.Call) string { return mcptest.Result(c, `{"content":[]}`) }),
	}})
	c := d.Connector(t, func(x *connectors.Draft) {
		x.URL, x.Auth.Type, x.CredentialMode = up.URL, connectors.AuthBearer, connectors.CredentialPerAgent
	})
	d.Synced(t, c.ID, "search")
	b, path := d.browser(), "/connectors/"+c.Slug+"/tools/search"
	b.signIn(m.Email)
	b.get(path).want(t, http.StatusOK, "Each agent has its own account here, and none is connected yet.", "Open credentials")
	own, other := d.Agent(t, func(a *connectors.Agent) { a.Name, a.Slug = "Zoe's own", "zoe" }), d.Agent(t, func(a *connectors.Agent) { a.Name, a.Slug = "Alpha", "alpha" })
	if err := d.Door().Agents().MakePersonal(t.Context(), m.UserID, own.ID); err != nil {
		t.Fatal(err)
	}
	d.Credential(t, c.ID, &own.ID, "one")
	d.Credential(t, c.ID, &other.ID, "two")
	p := b.get(path)
	p.want(t, http.StatusOK, "Myself, with the account of Zoe", "Myself, with the account of Alpha")
	if first := between(p.Body, `<option value=":`, `"`); first != "zoe" {
		t.Errorf("the first choice is %s, not the person's own account", first)
	}
	b.post(path+"/try", url.Values{"agent": {":"}, "as": {"json"}, "json": {`{}`}}).want(t, http.StatusUnprocessableEntity, "Name the agent.")
}
