package admin_test

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"patchbay/internal/connectors"
)

// restrictBodiesToAuditors sets that arguments and results are for auditors alone.
func (d *dashboard) restrictBodiesToAuditors() {
	d.t.Helper()
	d.signInAsRole(connectors.RoleOwner).submit("/settings", url.Values{"name": {"Acme"}, "body_readers": {"auditors"}}).want(d.t, http.StatusOK, "Settings saved.")
}

// createCallWithMarkers stores a call with a marker word in its arguments, result, progress and task.
func (d *dashboard) createCallWithMarkers(a connectors.Agent, c connectors.Connector) connectors.ToolCallID {
	d.t.Helper()
	call := newCall(a, c, connectors.CallSuccess)
	call.Arguments, call.Content, call.Structured = []byte(`{"q":"hush"}`), []byte(`[{"type":"text","text":"hush"}]`), []byte(`{"hush":1}`)
	call.Upstream = &connectors.Upstream{Said: "hush"}
	id := d.createEndedCall(d.Tenant, call)
	d.AsSystem(d.t, `update tool_calls set task = $2, task_handle = 'handle', progress = '{"progress": 1, "message": "hush"}' where id = $1`,
		[]any{id, []byte(`{"status":"completed","statusMessage":"hush"}`)})
	return id
}

// TestBodies_AreForAuditorsAlone opens every page and file as every role. A new one that shows arguments or
// results fails here.
func TestBodies_AreForAuditorsAlone(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	ids := d.ownThings()
	a, c := d.findAgentAndConnector(ids.agent, ids.connector)
	call, running := d.createCallWithMarkers(a, c), d.createTaskCall(d.Tenant, a, c, `{"status":"working","statusMessage":"hush"}`)
	ids.waiting = call.String()
	open := func(role connectors.Role) []string {
		var found []string
		b := d.signInAsRole(role)
		for _, route := range d.routes() {
			method, pattern, _ := strings.Cut(route, " ")
			if method != http.MethodGet || !mayUse(role, routeRoles[route]) || pattern == "/events" {
				continue
			}
			for _, query := range []string{"", "?call=" + call.String(), "?on=all"} {
				if strings.Contains(b.get(ids.fill(pattern)+query).Body, "hush") {
					found = append(found, route)
				}
			}
		}
		if strings.Contains(b.get("/calls/"+running.ID.String()).Body, "hush") {
			found = append(found, "a task that runs")
		}
		slices.Sort(found)
		return slices.Compact(found)
	}
	if found := open(connectors.RoleViewer); len(found) < 4 { // lists, files, and the call's page
		t.Fatalf("as long as they are for everyone, they stand at %v", found)
	}
	d.restrictBodiesToAuditors()
	for _, role := range connectors.Roles {
		var want []string
		if role == connectors.RoleAuditor {
			want = []string{"GET /calls/{id}", "a task that runs"}
		}
		if diff := cmp.Diff(want, open(role)); diff != "" {
			t.Errorf("a %s reads them at (-may +does):\n%s", role, diff)
		}
	}
}

func TestCallPage_NamesReadersOfBodies(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	a, c := d.Agent(t), d.Connector(t)
	page, picture := "/calls/"+d.createCallWithMarkers(a, c).String(), "/calls/"+d.createPictureCall(d.Tenant, a, c).String()+"/pictures/0"
	member, auditor := d.signInAsRole(connectors.RoleMember), d.signInAsRole(connectors.RoleAuditor)
	member.get(page).want(t, http.StatusOK, "hush", "Try again")
	member.get(picture).want(t, http.StatusOK)
	d.restrictBodiesToAuditors()
	p := member.get(page)
	p.want(t, http.StatusOK, "Only auditors can see this.", "Success")
	if p.says("Try again") || p.says("hush") {
		t.Error("a member reads it")
	}
	member.get(picture).want(t, http.StatusNotFound)
	auditor.get(page).want(t, http.StatusOK, "hush", "recorded")
	auditor.get(picture).want(t, http.StatusOK)
	auditor.get("/audit?action=tool_call.read").want(t, http.StatusOK, "tool_call.read", "2 events")
}

func TestApproval_DecidedArgumentsAreForAuditors(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	ids := d.ownThings()
	d.restrictBodiesToAuditors()
	member, page := d.signInAsRole(connectors.RoleMember), "/approvals/"+ids.waiting
	member.get(page).want(t, http.StatusOK, "all of it")
	member.submit(page+"/deny", nil)
	p := member.get(page)
	p.want(t, http.StatusOK, "No longer waiting. Only auditors can see the arguments.")
	if p.says("all of it") {
		t.Error("they are still there")
	}
}

// Reading a body is audited, and events arrive unread.
func TestEvents_OmitBodiesForAuditors(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	d.restrictBodiesToAuditors()
	a, c := d.Agent(t), d.Connector(t)
	call := d.createTaskCall(d.Tenant, a, c, `{"status":"working","statusMessage":"hush"}`)
	for _, role := range []connectors.Role{connectors.RoleViewer, connectors.RoleAuditor} {
		b := d.signInAsRole(role)
		for _, on := range []string{"on=call&id=" + call.ID.String(), "on=calls", "on=tasks"} {
			if event := b.openEventsAt("/events?" + on).until("search"); strings.Contains(event, "hush") || !strings.Contains(event, "Working") {
				t.Errorf("%s sends a %s: %s", on, role, event)
			}
		}
	}
}
