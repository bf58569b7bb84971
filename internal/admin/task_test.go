package admin_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/store"
)

// taskIn makes a call that its server runs as a task; opts change the call.
func (d *dashboard) taskIn(tenant connectors.TenantID, a connectors.Agent, c connectors.Connector, said string, opts ...func(*connectors.ToolCall)) connectors.ToolCall {
	d.t.Helper()
	call, door := newCall(a, c, connectors.CallRunning), d.St.Tenant(tenant)
	call.InstanceID = &d.Instance
	for _, opt := range opts {
		opt(&call)
	}
	if err := d.St.System().BeginCalls(d.t.Context(), []store.OwnedCall{{Tenant: tenant, ToolCall: call}}); err != nil {
		d.t.Fatal(err)
	}
	if err := door.SaveCallTask(d.t.Context(), call.ID, []byte(said), "handle of "+call.ID.String()); err != nil {
		d.t.Fatal(err)
	}
	return call
}

// says has the server say something else of a task.
func (d *dashboard) says(call connectors.ToolCall, said string) {
	d.t.Helper()
	if err := d.Door().SaveCallTask(d.t.Context(), call.ID, []byte(said), ""); err != nil {
		d.t.Fatal(err)
	}
}

// ends has a task end.
func (d *dashboard) ends(call connectors.ToolCall, status connectors.CallStatus, outcome connectors.CallOutcome) {
	d.t.Helper()
	call.Status, call.Outcome, call.Content = status, outcome, []byte(`[{"type":"text","text":"41 rows"}]`)
	if outcome == connectors.OutcomeRPCError {
		call.ErrorCode, call.ErrorMessage = "task_failed", "The task failed."
	}
	if ended, err := d.Door().EndCallTask(d.t.Context(), call); err != nil || !ended {
		d.t.Fatal(ended, err)
	}
}

func working(message string) string {
	now := time.Now().UTC()
	return fmt.Sprintf(`{"taskId":"sealed","status":"working","statusMessage":%q,"createdAt":%q,"lastUpdatedAt":%q,"ttlMs":3600000}`,
		message, now.Add(-2*time.Minute).Format(time.RFC3339), now.Add(-time.Minute).Format(time.RFC3339))
}

func TestTasksAreListedWithHowFarTheyAre(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	c, a := d.at("Reports", "https://reports.example.com/mcp"), d.Agent(t)
	b := d.as(connectors.RoleMember)
	b.get("/tasks").want(t, http.StatusOK, "No tasks yet")
	d.waitingIn(d.Tenant, a, c)
	b.get("/tasks").want(t, http.StatusOK, "No tasks yet")
	d.taskIn(d.Other, d.AgentIn(t, d.Other), d.ConnectorIn(t, d.Other), working("of somebody else"))

	open := d.taskIn(d.Tenant, a, c, working("Reading page 40 of 100"))
	d.taskIn(d.Tenant, a, c, `{"status":"input_required"}`, func(c *connectors.ToolCall) { c.Tool = "ask" })
	done := d.taskIn(d.Tenant, a, c, working(""))
	d.ends(done, connectors.CallSuccess, connectors.OutcomeOK)
	d.ends(d.taskIn(d.Tenant, a, c, working("")), connectors.CallError, connectors.OutcomeRPCError)
	p := b.get("/tasks")
	p.want(t, http.StatusOK, "4 tasks", "At work", "Reading page 40 of 100", "1 minute ago", "in 57 minutes", "Asks for input", "Completed", "Failed", "The task failed.",
		"/calls/"+open.ID.String()+"/cancel", "/calls/"+done.ID.String()+"#result")
	if strings.Contains(p.Body, "somebody else") {
		t.Error("another tenant's task is there")
	}
	b.get("/tasks?status=running&tool=search").want(t, http.StatusOK, "1 task", "Reading page")
	b.get("/tasks?status=cancelled").want(t, http.StatusOK, "No task matches")
	b.get("/tasks?connector=nobody").want(t, http.StatusOK, "No task matches")
	b.get("/exports/tasks?status=running&tool=search").want(t, http.StatusOK, "working", "Reading page 40 of 100")
	if viewer := d.as(connectors.RoleViewer).get("/tasks"); strings.Contains(viewer.Body, "/cancel") {
		t.Error("a viewer may cancel")
	}
}

func TestATaskIsFollowedInABrowser(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	c, a := d.at("Reports", "https://reports.example.com/mcp"), d.Agent(t, func(a *connectors.Agent) { a.Name, a.Slug = "Night", "night" })
	d.ends(d.taskIn(d.Tenant, a, c, working(""), func(c *connectors.ToolCall) { c.Tool = "export_rows" }), connectors.CallSuccess, connectors.OutcomeOK)
	d.ends(d.taskIn(d.Tenant, a, c, working(""), func(c *connectors.ToolCall) { c.Tool = "rebuild" }), connectors.CallError, connectors.OutcomeRPCError)
	d.taskIn(d.Tenant, a, c, `{"status":"input_required","statusMessage":"Which of the two projects?"}`, func(c *connectors.ToolCall) { c.Tool = "archive" })
	tab := d.signedIn(connectors.RoleMember)
	tab.Go(d.base + "/tasks")
	tab.WaitText("#tasks", "3 tasks")
	first := d.taskIn(d.Tenant, a, c, working("Reading page 1 of 100"))
	tab.WaitText("#tasks", "Reading page 1 of 100")
	d.says(first, working("Reading page 40 of 100"))
	tab.WaitText("#task-"+first.ID.String(), "page 40 of 100")
	looked(t, tab, "tasks")
	tab.Click("#task-" + first.ID.String() + " form button")
	tab.WaitText("#notice", "The call is cancelled.")
	tab.WaitText("#task-"+first.ID.String(), "Cancelled")
	tab.Go(d.base + "/tasks?status=cancelled")
	tab.WaitText("#tasks", "1 task")
}
