//go:build e2e

package admin_test

import (
	"testing"

	"patchbay/internal/connectors"
)

func TestUnusedTools_ReviewInABrowser(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	d.createUnusedTools()
	tab := d.openSignedInTab(connectors.RoleAdmin)
	tab.Go(d.base + "/agents/support/tools")
	tab.WaitText("#unused-summary", "9 of 14 tools unused in 30 days")
	checkAppearanceOf(t, tab, "agent-tools")
	tab.Click("#unused-summary a")
	tab.WaitPath("/agents/support/unused")
	checkAppearanceOf(t, tab, "unused")
	tab.Click("form[method=post] .sticky button[type=submit]")
	tab.WaitText("main", "Removed 9 tools of 1 connector.")
	tab.WaitText("#unused-summary", "No unused tools")
	tab.Scripts(false)
	tab.Go(d.base + "/agents/support/tools")
	tab.Click("#unused-summary a")
	tab.WaitPath("/agents/support/unused")
}
