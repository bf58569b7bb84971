//go:build e2e

package admin_test

import (
	"testing"

	"patchbay/internal/connectors"
)

func TestChangeUndo_InTheToast(t *testing.T) {
	t.Parallel()
	d, _ := newDashboardWithChangedTool(t)
	tab := d.openSignedInTab(connectors.RoleAdmin)
	const path = "/connectors/linear/tools/search/changes"
	for _, scripts := range []bool{true, false} {
		tab.Go(d.base + path)
		tab.WaitPath(path)
		tab.Scripts(scripts)
		tab.Click("form[action$='/reject'] button")
		tab.WaitText("#notice", "Rejected: search of Linear.")
		tab.Click("#notice button[form=undo]")
		tab.WaitText("#notice", "Undid the decision on search of Linear.")
		tab.WaitText("#changes", "1 change")
	}
}
