//go:build e2e

package admin_test

import (
	"testing"

	"patchbay/internal/connectors"
)

func TestSettings_DefaultsAreSavedInABrowser(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	tab := d.openSignedInTab(connectors.RoleOwner)
	for i, seconds := range []string{"3600", "7200"} {
		tab.Scripts(i == 0)
		tab.Go(d.base + "/settings")
		if i == 0 {
			checkAppearanceOf(t, tab, "settings")
		}
		tab.Choose("[name='defaults.sync_interval_s']", "custom")
		tab.Fill("[name='defaults.sync_interval_s_number']", seconds)
		tab.Choose("[name='defaults.tool_changes']", "hold_all")
		tab.Click("#new-connectors [type=submit]")
		tab.WaitText("#notice", "Settings saved.")
		tab.Scripts(true)
		tab.Go(d.base + "/connectors/new")
		if value := tab.Value("[name=sync_interval_s]"); value != seconds {
			t.Errorf("a new connector begins with %s, want %s", value, seconds)
		}
	}
}
