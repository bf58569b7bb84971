//go:build e2e

package admin_test

import (
	"testing"

	"patchbay/internal/connectors"
)

func TestChange_InABrowser(t *testing.T) {
	t.Parallel()
	d, _ := newDashboardWithChangedTool(t)
	tab := d.openSignedInTab(connectors.RoleAdmin)
	tab.Go(d.base + "/changes")
	tab.WaitText("nav a[href='/changes']", "1")
	checkAppearanceOf(t, tab, "changes")
	tab.Click("main a[href='/connectors/linear/tools/search/changes']")
	tab.WaitText("main", "Possible attack")
	checkAppearanceOf(t, tab, "change")
	tab.Scripts(false)
	tab.Go(d.base + "/connectors/linear/tools/search/changes")
	tab.Click("[popovertarget=accept]")
	tab.Click("#accept button[type=submit]")
	tab.WaitPath("/changes")
	tab.WaitText("main", "Accepted: search of Linear.")
	tab.Scripts(true)
	tab.Go(d.base + "/changes")
	checkAppearanceOf(t, tab, "changes-empty")
}
