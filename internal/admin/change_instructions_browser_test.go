//go:build e2e

package admin_test

import (
	"testing"

	"patchbay/internal/connectors"
)

func TestInstructionsChange_InABrowser(t *testing.T) {
	t.Parallel()
	d, _ := newDashboardWithChangedInstructions(t)
	tab := d.openSignedInTab(connectors.RoleAdmin)
	tab.Go(d.base + "/connectors/linear")
	tab.WaitText("main", "Changed by the server. Agents keep the accepted version until review.")
	checkAppearanceOf(t, tab, "connector-instructions")
	tab.Click("main a[href='/connectors/linear/instructions/changes']")
	tab.WaitText("main", "Possible attack")
	checkAppearanceOf(t, tab, "change-instructions")
	tab.Click("[popovertarget=accept]")
	tab.Click("#accept button[type=submit]")
	tab.WaitText("main", "Accepted: Server instructions of Linear.")
}
