//go:build e2e

package admin_test

import (
	"testing"

	"patchbay/internal/connectors"
)

func TestBodies_AuditorInABrowser(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	call := d.createCallWithMarkers(d.Agent(t), d.Connector(t))
	owner := d.openSignedInTab(connectors.RoleOwner)
	owner.Go(d.base + "/settings")
	owner.Choose("[name=body_readers]", "auditors")
	owner.Click("main form:has([name=body_readers]) button[type=submit]")
	owner.WaitText(".flash", "Settings saved.")
	checkAppearanceOf(t, owner, "settings-readers")
	owner.Go(d.base + "/calls/" + call.String())
	owner.WaitText("main", "Only auditors can see this.")
	checkAppearanceOf(t, owner, "call-withheld")
	auditor := d.openSignedInTab(connectors.RoleAuditor)
	auditor.Go(d.base + "/calls/" + call.String())
	auditor.WaitText("main", "recorded")
	checkAppearanceOf(t, auditor, "call-auditor")
	auditor.Click("#sidebar a[href='/audit']")
	auditor.WaitText("main", "tool_call.read")
	checkAppearanceOf(t, auditor, "audit-auditor")
}
