//go:build e2e

package admin_test

import (
	"testing"

	"patchbay/internal/connectors"
)

func TestATaskIsFollowedInABrowser(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	c, a := d.addConnectorAt("Reports", "https://reports.example.com/mcp"), d.Agent(t, func(a *connectors.Agent) { a.Name, a.Slug = "Night", "night" })
	d.endTask(d.createTaskCall(d.Tenant, a, c, taskDocument(""), func(c *connectors.ToolCall) { c.Tool = "export_rows" }), connectors.CallSuccess, connectors.OutcomeOK)
	d.endTask(d.createTaskCall(d.Tenant, a, c, taskDocument(""), func(c *connectors.ToolCall) { c.Tool = "rebuild" }), connectors.CallError, connectors.OutcomeRPCError)
	d.createTaskCall(d.Tenant, a, c, `{"status":"input_required","statusMessage":"Which of the two projects?"}`, func(c *connectors.ToolCall) { c.Tool = "archive" })
	tab := d.openSignedInTab(connectors.RoleMember)
	tab.Go(d.base + "/tasks")
	tab.WaitText("#tasks", "3 tasks")
	first := d.createTaskCall(d.Tenant, a, c, taskDocument("Reading page 1 of 100"))
	tab.WaitText("#tasks", "Reading page 1 of 100")
	d.setTaskStatus(first, taskDocument("Reading page 40 of 100"))
	tab.WaitText("#task-"+first.ID.String(), "page 40 of 100")
	checkAppearanceOf(t, tab, "tasks")
	tab.Click("#task-" + first.ID.String() + " form button")
	tab.WaitText("#notice", "Call cancelled.")
	tab.WaitText("#task-"+first.ID.String(), "Cancelled")
	tab.Go(d.base + "/tasks?status=cancelled")
	tab.WaitText("#tasks", "1 task")
}
