//go:build e2e

package admin_test

import (
	"testing"

	"patchbay/internal/connectors"
)

func TestTheKeysPageInABrowser(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	tab := d.openSignedInTab(connectors.RoleOwner)
	tab.Go(d.base + "/api-keys#add")
	tab.WaitText("main", "No keys yet")
	checkAppearance(tab, "api-keys-empty")
	tab.Fill("[name=name]", "warehouse")
	tab.Click("#add button[type=submit]")
	tab.WaitText("main", "shown only once")
	checkAppearance(tab, "api-keys-made")
}
