package admin_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"patchbay/internal/connectors"
	"patchbay/internal/mcp/mcptest"
	"patchbay/internal/secret"
	"patchbay/internal/toolcall"
)

// searchTool takes a text and a number, and has a number in its output schema.
const searchTool = `{"name":"search","title":"Search","description":"Finds things.","inputSchema":{"type":"object","properties":{
	"q":{"type":"string","description":"Words"},"limit":{"type":"integer","maximum":50,"default":20}},"required":["q"]},
	"outputSchema":{"type":"object","properties":{"found":{"type":"integer"}},"required":["found"]},"annotations":{"destructiveHint":true,"openWorldHint":true}}`

// addAnsweringServer adds a connector with a tool of that result, and an agent with a grant.
func (d *dashboard) addAnsweringServer(result string, opts ...func(*connectors.Agent)) (connectors.Agent, connectors.Connector, *mcptest.Server) {
	d.t.Helper()
	return d.addServerOf(searchTool, result, opts...)
}

// addServerOf is addAnsweringServer with another definition.
func (d *dashboard) addServerOf(tool, result string, opts ...func(*connectors.Agent)) (connectors.Agent, connectors.Connector, *mcptest.Server) {
	d.t.Helper()
	return d.addServerWith(tool, mcptest.Answer("application/json", func(c mcptest.Call) string { return mcptest.Result(c, result) }), opts...)
}

// addServerWith is addServerOf with another answer to calls.
func (d *dashboard) addServerWith(tool string, call mcptest.Handler, opts ...func(*connectors.Agent)) (connectors.Agent, connectors.Connector, *mcptest.Server) {
	d.t.Helper()
	up := mcptest.Start(d.t, mcptest.Script{Tools: []string{tool}, On: map[string]mcptest.Handler{"tools/call": call}})
	c := d.addConnectorAt("Linear", up.URL)
	d.signInAsRole(connectors.RoleMember).submit("/connectors/linear/sync_tools", nil).want(d.t, http.StatusOK, "Discovered 1 tools")
	a := d.Agent(d.t, append([]func(*connectors.Agent){func(a *connectors.Agent) { a.Name, a.Slug = "Support", "support" }}, opts...)...)
	d.Grant(d.t, a.ID, c.ID)
	return a, c, up
}

func trustAgent(a *connectors.Agent) { a.Approval = connectors.ApprovalAuto }

func TestATokenIsShownOnceAndRevoked(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	a := d.Agent(t, func(a *connectors.Agent) { a.Name, a.Slug = "Support", "support" })
	b := d.signInAsRole(connectors.RoleAdmin)
	b.get("/agents/support").want(t, http.StatusOK, "No token", "No access yet")
	b.get("/agents/support/connect").want(t, http.StatusOK, d.base+"/mcp", "Claude Code", "Claude Desktop", "Cursor", "VS Code", "pb_agent_…")
	b.post("/agents/support/tokens", url.Values{"name": {"x"}, "expires_at": {"2001-01-01"}}).want(t, http.StatusUnprocessableEntity, "Expiry must be in the future.")
	p := b.post("/agents/support/tokens", url.Values{"name": {"laptop"}, "expires_at": {"2099-01-31"}})
	p.want(t, http.StatusOK, "Token “laptop”", "shown only once", "on 1 Feb 2099")
	text := between(p.Body, `data-copy="pb_agent_`, `"`)
	if strings.Count(p.Body, text) < 6 {
		t.Errorf("the snippets do not hold the token %q", text)
	}
	view, token, err := d.access.ByToken(t.Context(), secret.Text("pb_agent_"+text))
	if err != nil || view.Agent.ID != a.ID {
		t.Fatalf("the token opens %v, %v", view, err)
	}
	if again := b.get("/agents/support/connect"); again.says(text) || !again.says("laptop") {
		t.Error("the token is shown twice, or not listed")
	}
	revoke := "/agents/support/tokens/" + token.ID.String() + "/revoke"
	b.submit(revoke, nil).want(t, http.StatusOK, "Token revoked.", "No tokens yet")
	if p := b.post(revoke, nil); p.Status != http.StatusNotFound {
		t.Errorf("revoked again: %d", p.Status)
	}
	if p := d.signInAsRole(connectors.RoleMember).get("/agents/support/connect"); p.says("Create token") {
		t.Error("a member is offered to make tokens")
	}
}

// between is the part of a text between two others.
func between(text, before, after string) string {
	_, rest, _ := strings.Cut(text, before)
	found, _, _ := strings.Cut(rest, after)
	return found
}

func TestAGrantIsChosenToolByTool(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	a := d.Agent(t, func(a *connectors.Agent) { a.Name, a.Slug = "Support", "support" })
	c := d.addConnectorAt("Linear", "https://mcp.example.com/mcp")
	d.Synced(t, c.ID, "create", "delete", "search")
	b := d.signInAsRole(connectors.RoleAdmin)
	b.get("/agents/support/access").want(t, http.StatusOK, "Linear", "3 tools", "not granted")
	b.get("/agents/support/connectors/linear").want(t, http.StatusOK, "0 of 3 selected", "Agent default: ask every time", "Grant")
	b.submit("/agents/support/connectors/linear", url.Values{
		"all": {"false"}, "tool": {"search", "later"}, "trusted": {"search"}, "approval": {"trusted_only"},
	}).want(t, http.StatusOK, "“Support” can use 2 tools of “Linear”.", "2 of 3 tools", "Ask, except for trusted tools")
	mode := connectors.ApprovalTrustedOnly
	want := connectors.Grant{AgentID: a.ID, ConnectorID: c.ID, Tools: []string{"later", "search"}, TrustedTools: []string{"search"}, Approval: &mode}
	none := func(g *connectors.Grant) { g.Prompts, g.Resources = connectors.PromptsNone, connectors.ResourcesNone }
	none(&want)
	d.wantGrant(want)
	b.get("/agents/support/connectors/linear").want(t, http.StatusOK, "2 of 4 selected", "later", "missing", "Remove access")
	b.get("/agents/support/tools").want(t, http.StatusOK, "1 tool", "mcp_linear__search", "Callable")
	b.get("/agents/support/tools/mcp_linear__search").want(t, http.StatusOK, "The agent can call the tool.")
	b.get("/agents/support/tools/mcp_linear__delete").want(t, http.StatusOK, "The agent can't see or call the tool.", "Not granted")
	b.get("/agents/support/tools?q=zebra").want(t, http.StatusOK, "Not visible to the agent", "Why not?")
	b.get("/agents/support/tools/zebra").want(t, http.StatusOK, "Unknown", "No connector has this tool.")

	b.submit("/agents/support/connectors/linear", url.Values{"all": {"true"}, "approval": {""}}).want(t, http.StatusOK, "“Support” can use all tools of “Linear”.", "All 3 tools")
	want = connectors.Grant{AgentID: a.ID, ConnectorID: c.ID, AllTools: true}
	none(&want) // an existing grant keeps its choice
	d.wantGrant(want)
	b.post("/agents/support/connectors/linear", url.Values{"all": {"true"}, "approval": {"perhaps"}}).want(t, http.StatusUnprocessableEntity)
	b.submit("/agents/support/connectors/linear/remove", nil).want(t, http.StatusOK, "Access removed.", "not granted")
	viewer := d.signInAsRole(connectors.RoleViewer).get("/agents/support/connectors/linear")
	if viewer.want(t, http.StatusOK, "search"); viewer.says("Grant access") {
		t.Error("a viewer is offered to grant")
	}
}

func (d *dashboard) wantGrant(want connectors.Grant) {
	d.t.Helper()
	have, err := d.Door().Agents().Grant(d.t.Context(), want.AgentID, want.ConnectorID)
	if err != nil {
		d.t.Fatal(err)
	}
	want.CreatedAt, want.UpdatedAt = have.Grant.CreatedAt, have.Grant.UpdatedAt
	if want.Accounts == nil {
		want.Accounts = []string{} // a stored grant that binds none
	}
	want = want.Normalized()
	if diff := cmp.Diff(want, have.Grant.Normalized()); diff != "" {
		d.t.Error(diff)
	}
}

func TestAToolIsTriedByItsForm(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	_, _, up := d.addAnsweringServer(`{"content":[{"type":"text","text":"<b>2</b> found"}],"structuredContent":{"found":"2"}}`, trustAgent)
	tool, err := d.Door().Tools().Get(t.Context(), d.addLinear(), "search")
	if err != nil {
		t.Fatal(err)
	}
	b, path := d.signInAsRole(connectors.RoleMember), "/connectors/linear/tools/search"
	b.get(path).want(t, http.StatusOK, "Try it", "Words", `value="20"`, "Support")
	if p := d.signInAsRole(connectors.RoleViewer).get(path); p.says("Try it") {
		t.Error("a viewer is offered to run it")
	}
	form := func(values ...string) url.Values {
		f := url.Values{"agent": {"support"}, "as": {"form"}, "definition": {tool.Hash.String()}}
		for i := 0; i < len(values); i += 2 {
			f.Set(values[i], values[i+1])
		}
		return f
	}
	b.post(path+"/try", form("arg.1", "x")).want(t, http.StatusUnprocessableEntity, "Required.", "Enter a whole number.")
	b.post(path+"/try", form("arg.0", "x", "arg.1", "500")).want(t, http.StatusUnprocessableEntity, `"limit"`)
	b.post(path+"/try", form("arg.0", "x", "agent", "nobody")).want(t, http.StatusUnprocessableEntity, "No such agent.")
	b.post(path+"/try", form("arg.0", "x", "definition", "old")).want(t, http.StatusConflict, "The tool changed. Fill in the form again.")
	b.post(path+"/try", form("arg.0", "x", "do", "json")).want(t, http.StatusOK, `"q": "x"`, "Use form")
	b.post(path+"/try", url.Values{"agent": {"support"}, "as": {"json"}, "json": {`[]`}}).want(t, http.StatusUnprocessableEntity, "Enter a JSON object.")
	b.post(path+"/try", url.Values{"agent": {"support"}, "as": {"json"}, "json": {`{"q":"x","limit":7}`}, "do": {"form"}}).want(t, http.StatusOK, `value="7"`, "Use JSON")
	b.post(path+"/try", url.Values{"agent": {"support"}, "as": {"json"}, "json": {`{"q":`}, "do": {"form"}}).want(t, http.StatusUnprocessableEntity, `{"q":`)
	b.post(path+"/try", form("arg.0", "kept", "arg.1", "half", "do", "json")).want(t, http.StatusUnprocessableEntity, `value="kept"`, `value="half"`, "Enter a whole number.")
	if n := len(up.Calls()) - callsBefore(up); n != 0 {
		t.Errorf("%d calls were sent", n)
	}

	p := b.post(path+"/try", form("arg.0", "x", "arg.1", "7"))
	p.want(t, http.StatusOK, "Done", "<b>2</b> found", "Doesn't match the output schema", `The field "found" must be an integer.`, "Open call")
	if strings.Contains(p.Body, "<b>2") {
		t.Error("the result became part of the page")
	}
	call := between(p.Body, `href="/calls/`, `"`)
	b.get("/calls/"+call).want(t, http.StatusOK, "Success", `"limit": 7`, "<b>2</b> found", "The dashboard", "Try again", "Called by", "Address", "127.0.0.1", "Request")
	b.get(path+"?call="+call).want(t, http.StatusOK, `value="7"`, `value="x"`)
	b.get("/calls?agent=support&connector=linear&tool=search&status=success").want(t, http.StatusOK, "1 call", call)
	for _, none := range []string{"agent=nobody", "connector=none", "tool=other", "status=denied", "status=nonsense"} {
		b.get("/calls?"+none).want(t, http.StatusOK, "No matching calls")
	}
}

func TestTrial_SaysWhetherTheOutputWasChecked(t *testing.T) {
	t.Parallel()
	const fits, unchecked = "Matches the output schema.", "No mismatch found; the output schema was only partly checked."
	for schema, want := range map[string]struct{ said, unsaid string }{
		`{"type":"integer"}`:                    {fits, unchecked},
		`{"$ref":"https://example.com/number"}`: {unchecked, fits},
	} {
		d := newDashboard(t)
		definition := strings.Replace(searchTool, `{"found":{"type":"integer"}}`, `{"found":`+schema+`}`, 1)
		d.addServerOf(definition, `{"content":[],"structuredContent":{"found":2}}`, trustAgent)
		form := url.Values{"agent": {"support"}, "as": {"json"}, "json": {`{"q":"x"}`}}
		p := d.signInAsRole(connectors.RoleMember).post("/connectors/linear/tools/search/try", form)
		p.want(t, http.StatusOK, want.said)
		if p.says(want.unsaid) {
			t.Errorf("%s: it says %q", schema, want.unsaid)
		}
	}
}

// callsBefore counts a server's requests that were no tool calls.
func callsBefore(up *mcptest.Server) int {
	n := 0
	for _, c := range up.Calls() {
		if c.Method != "tools/call" {
			n++
		}
	}
	return n
}

func (d *dashboard) addLinear() connectors.ConnectorID {
	d.t.Helper()
	c, err := d.Door().Connectors().Get(d.t.Context(), "linear")
	if err != nil {
		d.t.Fatal(err)
	}
	return c.ID
}

// createAskedCall has an agent make a call that waits for approval.
func (d *dashboard) createAskedCall(a connectors.Agent, arguments string) connectors.ToolCallID {
	d.t.Helper()
	view, err := d.access.LoadUncached(d.t.Context(), d.Tenant, connectors.Ref(a.Slug))
	if err != nil {
		d.t.Fatal(err)
	}
	out, err := d.calls.Call(d.t.Context(), toolcall.CallRequest{
		View: view, Tool: view.Connector("linear").Tool("search"), Arguments: []byte(arguments), Source: connectors.SourceGateway, NoWait: true,
	})
	if out.CallID == (connectors.ToolCallID{}) {
		d.t.Fatalf("the call does not wait: %v", err)
	}
	return out.CallID
}

func TestTheInboxIsForThoseWhoMayDecide(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	a, _, _ := d.addAnsweringServer(`{"content":[{"type":"text","text":"done"}],"structuredContent":{"found":2}}`)
	b := d.signInAsRole(connectors.RoleMember)
	b.get("/approvals").want(t, http.StatusOK, "Nothing waiting")
	first, second := d.createAskedCall(a, `{"q":"<first>"}`), d.createAskedCall(a, `{"q":"second"}`)
	b.get("/approvals").want(t, http.StatusOK, `"<first>"`, "destructive", "open world", "this tool may delete or overwrite data. It reaches the web, other systems or people.", "Support", "Linear", "Not called recently.", "Approve for 2 hours")
	if p := d.signInAsRole(connectors.RoleViewer).get("/approvals"); p.says("<first>") || p.says(`/deny"`) || !p.says("Only approvers see the arguments.") {
		t.Error("a viewer sees what is decided about, or may decide")
	}
	b.get("/calls").want(t, http.StatusOK, "Waiting for approval")

	path := "/approvals/" + first.String()
	b.get(path).want(t, http.StatusOK, `"<first>"`)
	b.submit(path+"/deny", url.Values{"reason": {"not <now>"}, "return_to": {"/approvals"}}).want(t, http.StatusOK, "Denied: search.", "second")
	b.get(path).want(t, http.StatusOK, "Denied", "not <now>")
	b.submit(path+"/approve", nil).want(t, http.StatusOK, "This call is no longer waiting for approval.")
	b.get("/approvals").want(t, http.StatusOK, "Recently called once, denied once.")

	path = "/approvals/" + second.String()
	b.submit(path+"/approve", url.Values{"allow": {"2h"}}).want(t, http.StatusOK, "Standing approval granted for 2 hours; revoke it on the agent's page.", "Approved")
	events := b.openEventsAt("/events?on=call&id=" + second.String())
	events.until("Success")
	b.get("/calls/"+second.String()).want(t, http.StatusOK, "Success", "Approved by", "done")
	b.get("/agents/support/tools").want(t, http.StatusOK, "Approved · expires in 2 hours")
	b.get("/agents/support").want(t, http.StatusOK, "Standing approvals", "search", "in 2 hours", "Linear")
	if p := d.signInAsRole(connectors.RoleViewer).get("/agents/support"); !p.says("Standing approvals") || p.says("Revoke standing approval") {
		t.Error("a viewer does not see the allowance, or may end it")
	}
	b.submit("/agents/support/connectors/linear/allowances/search/end", nil).want(t, http.StatusOK, "Standing approval revoked: search needs approval again.")
	b.get("/agents/support/tools").want(t, http.StatusOK, "Needs approval")
	if b.get("/agents/support").says("Standing approvals") {
		t.Error("the ended allowance is listed")
	}
	b.submit("/calls/"+second.String()+"/cancel", nil).want(t, http.StatusOK, "This call has ended.")
	third := d.createWaitingCall(d.Tenant, d.Agent(t), d.Connector(t))
	b.submit("/calls/"+third.String()+"/cancel", nil).want(t, http.StatusOK, "Call cancelled.", "Cancelled")
}

func TestEvents_StreamCallsAndApprovals(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	a, c, _ := d.addAnsweringServer(`{"content":[]}`)
	b := d.signInAsRole(connectors.RoleMember)
	calls, inbox := b.openEventsAt("/events?on=calls&agent=support"), b.openEventsAt("/events?on=approvals")
	calls.until("No matching calls")
	id := d.createAskedCall(a, `{"q":"news"}`)
	calls.until("call-" + id.String())
	inbox.until(`id="waiting"`, "approval-"+id.String())
	b.post("/approvals/"+id.String()+"/deny", nil)
	calls.until("Denied")
	inbox.until("Denied by")
	other := newCall(a, c, connectors.CallSuccess)
	other.AgentID, other.AgentSlug = nil, "gone"
	d.createEndedCall(d.Tenant, other)
	shown := d.createEndedCall(d.Tenant, newCall(a, c, connectors.CallError))
	if event := calls.until("call-" + shown.String()); strings.Contains(event, other.ID.String()) {
		t.Error("the stream tells of what the page does not list")
	}
}

// The end of a call may be stored after that of its approval.
func TestEvents_ApprovedCallShowsItsLateResult(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	a, _, _ := d.addAnsweringServer(`{"content":[{"type":"text","text":"3 found"}]}`)
	b := d.signInAsRole(connectors.RoleMember)
	id := d.createAskedCall(a, `{"q":"news"}`).String()
	calls := b.openEventsAt("/events?on=calls&agent=support")
	b.post("/approvals/"+id+"/approve", nil)
	calls.until("call-"+id, "Success")
	d.AsOwner(t, "do $$ begin for i in 1..6000 loop exit when exists (select from tool_calls where id = '"+id+"' and completed_at is not null); perform pg_sleep(0.01); end loop; end $$",
		"create table ended as select id, completed_at, duration_us from tool_calls where id = '"+id+"'",
		"update tool_calls set status = 'running', completed_at = null, duration_us = null where id = '"+id+"'")
	page := b.openEventsAt("/events?on=approvals&id=" + id)
	if event := page.until("Approved, done"); strings.Contains(event, "3 found") {
		t.Error("a running call has a result")
	}
	d.AsOwner(t, "update tool_calls c set status = 'success', completed_at = e.completed_at, duration_us = e.duration_us from ended e where e.id = c.id", "drop table ended")
	page.until("approval-result-"+id, "3 found")
}

func TestOnlyPicturesAreServedAsSuch(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	a, c := d.Agent(t), d.Connector(t)
	b := d.signInAsRole(connectors.RoleViewer)
	picture := b.get("/calls/" + d.createPictureCall(d.Tenant, a, c).String() + "/pictures/0")
	picture.want(t, http.StatusOK)
	for name, want := range map[string]string{
		"Content-Type": "image/png", "X-Content-Type-Options": "nosniff", "Content-Security-Policy": "default-src 'none'; sandbox", "Cross-Origin-Resource-Policy": "same-origin",
	} {
		if have := picture.Header.Get(name); have != want {
			t.Errorf("%s: %q", name, have)
		}
	}
	call := newCall(a, c, connectors.CallSuccess)
	html := "PGh0bWw+PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg==" // <html><script>alert(1)</script>
	call.Content = fmt.Appendf(nil, `[{"type":"image","mimeType":"image/svg+xml","data":%q},{"type":"image","mimeType":"image/png","data":%q},
		{"type":"image","mimeType":"text/html","data":%q},{"type":"text","text":"x"},{"type":"image","mimeType":"image/png","data":"&"},7]`, html, html, html)
	id := d.createEndedCall(d.Tenant, call).String()
	for _, n := range []string{"0", "1", "2", "3", "4", "5", "6", "-1", "x", "99999999999999999999"} {
		b.get("/calls/"+id+"/pictures/"+n).want(t, http.StatusNotFound)
	}
	p := b.get("/calls/" + id)
	p.want(t, http.StatusOK, "image/svg+xml", "not shown")
	if strings.Contains(p.Body, "<script>alert") || strings.Contains(p.Body, "data:image") {
		t.Error("remote content became part of the page")
	}
}

func TestCallPage_SaysWhatIsNotStored(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	owner := d.signInAsRole(connectors.RoleOwner)
	owner.post("/settings", url.Values{"name": {"Acme"}, "call_history": {"all"}, "approval_timeout_s": {"x"}}).want(t, http.StatusUnprocessableEntity)
	owner.submit("/settings", url.Values{"name": {"Acme"}, "call_history": {"none"}, "approval_timeout_s": {"60"}}).want(t, http.StatusOK, "Settings saved.")
	owner.get("/settings").want(t, http.StatusOK, `value="60"`, `<option value="none" selected>`)
	a, c := d.Agent(t), d.Connector(t)
	call := newCall(a, c, connectors.CallSuccess)
	call.Arguments, call.ResponseBytes = nil, 5000
	owner.get("/calls/"+d.createEndedCall(d.Tenant, call).String()).want(t, http.StatusOK, "Not stored (9 bytes), per your organisation's settings.", "Not stored (4.9 KiB), per your organisation's settings.")
}
