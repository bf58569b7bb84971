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

// createTaskCall stores a call that runs as a task; opts change the call.
func (d *dashboard) createTaskCall(tenant connectors.TenantID, a connectors.Agent, c connectors.Connector, said string, opts ...func(*connectors.ToolCall)) connectors.ToolCall {
	d.t.Helper()
	call, door := newCall(a, c, connectors.CallRunning), d.St.Tenant(tenant)
	call.InstanceID = &d.Instance
	for _, opt := range opts {
		opt(&call)
	}
	if err := d.St.System().Calls().BeginCalls(d.t.Context(), []store.OwnedCall{{Tenant: tenant, ToolCall: call}}); err != nil {
		d.t.Fatal(err)
	}
	if err := door.Calls().SaveCallTask(d.t.Context(), call.ID, store.CallTask{State: []byte(said), Handle: "handle of " + call.ID.String()}); err != nil {
		d.t.Fatal(err)
	}
	return call
}

// setTaskStatus stores a new status of a task.
func (d *dashboard) setTaskStatus(call connectors.ToolCall, said string) {
	d.t.Helper()
	if err := d.Door().Calls().SaveCallTask(d.t.Context(), call.ID, store.CallTask{State: []byte(said)}); err != nil {
		d.t.Fatal(err)
	}
}

// endTask ends a task.
func (d *dashboard) endTask(call connectors.ToolCall, status connectors.CallStatus, outcome connectors.CallOutcome) {
	d.t.Helper()
	call.Status, call.Outcome, call.Content = status, outcome, []byte(`[{"type":"text","text":"41 rows"}]`)
	if outcome == connectors.OutcomeRPCError {
		call.ErrorCode, call.ErrorMessage = "task_failed", "The task failed."
	}
	if ended, err := d.Door().Calls().EndCallTask(d.t.Context(), call); err != nil || !ended {
		d.t.Fatal(ended, err)
	}
}

func taskDocument(message string) string {
	now := time.Now().UTC()
	return fmt.Sprintf(`{"taskId":"sealed","status":"working","statusMessage":%q,"createdAt":%q,"lastUpdatedAt":%q,"ttlMs":3600000}`,
		message, now.Add(-2*time.Minute).Format(time.RFC3339), now.Add(-time.Minute).Format(time.RFC3339))
}

func TestTasksAreListedWithHowFarTheyAre(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	c, a := d.addConnectorAt("Reports", "https://reports.example.com/mcp"), d.Agent(t)
	b := d.signInAsRole(connectors.RoleMember)
	b.get("/tasks").want(t, http.StatusOK, "No tasks yet")
	d.createWaitingCall(d.Tenant, a, c)
	b.get("/tasks").want(t, http.StatusOK, "No tasks yet")
	d.createTaskCall(d.Other, d.AgentIn(t, d.Other), d.ConnectorIn(t, d.Other), taskDocument("of somebody else"))

	open := d.createTaskCall(d.Tenant, a, c, taskDocument("Reading page 40 of 100"))
	b.get("/tasks").want(t, http.StatusOK, `<progress class="how-far" value="40" max="100"`)
	d.AsSystem(t, `update tool_calls set progress = '{"progress": 3, "total": 4}' where id = $1`, []any{open.ID})
	b.get("/tasks").want(t, http.StatusOK, `<progress class="how-far" value="75" max="100"`)
	d.createTaskCall(d.Tenant, a, c, `{"status":"input_required"}`, func(c *connectors.ToolCall) { c.Tool = "ask" })
	done := d.createTaskCall(d.Tenant, a, c, taskDocument(""))
	d.endTask(done, connectors.CallSuccess, connectors.OutcomeOK)
	d.endTask(d.createTaskCall(d.Tenant, a, c, taskDocument("")), connectors.CallError, connectors.OutcomeRPCError)
	p := b.get("/tasks")
	p.want(t, http.StatusOK, "4 tasks", "Working", "Reading page 40 of 100", "1 minute ago", "in 58 minutes", "Needs input", "Completed", "Failed", "The task failed.",
		"/calls/"+open.ID.String()+"/cancel", "/calls/"+done.ID.String()+"#result")
	if strings.Contains(p.Body, "somebody else") {
		t.Error("another tenant's task is there")
	}
	b.get("/tasks?status=running&tool=search").want(t, http.StatusOK, "1 task", "Reading page")
	b.get("/tasks?status=cancelled").want(t, http.StatusOK, "No matching tasks")
	b.get("/tasks?connector=nobody").want(t, http.StatusOK, "No matching tasks")
	b.get("/exports/tasks?status=running&tool=search").want(t, http.StatusOK, "working", "Reading page 40 of 100")
	if viewer := d.signInAsRole(connectors.RoleViewer).get("/tasks"); strings.Contains(viewer.Body, "/cancel") {
		t.Error("a viewer may cancel")
	}
}
