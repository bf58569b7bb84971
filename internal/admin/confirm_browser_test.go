//go:build e2e

package admin_test

import (
	"testing"

	"patchbay/internal/connectors"
	chromium "patchbay/internal/testing/browser"
)

// The action runs after the confirmation, with and without script.
func TestABrowserConfirmsAndTheActIsDone(t *testing.T) {
	t.Parallel()
	for _, script := range []bool{true, false} {
		d := newDashboard(t)
		tab := chromium.Open(t)
		tab.Scripts(script)
		tab.Go(d.base + "/login")
		tab.Fill("[name=email]", d.createMember(connectors.RoleOwner).Email)
		tab.Fill("[name=password]", password.Reveal())
		tab.Click("main form button[type=submit]")
		tab.WaitPath("/")
		d.advancePastConfirmation()
		tab.Go(d.base + "/api-keys#add")
		tab.Fill("[name=name]", "nightly export")
		tab.Choose("[name=role]", "member")
		tab.Click("main form[action='/api-keys'] button[type=submit]")
		tab.WaitText("main", "Confirm it's you")
		tab.Forgive("403")
		if script {
			checkAppearance(tab, "confirm")
		}
		tab.Fill("[name=confirm_password]", "not the password")
		tab.Click("main form button[type=submit]")
		tab.WaitText("main", "Wrong password.")
		tab.Forgive("422")
		tab.Fill("[name=confirm_password]", password.Reveal())
		tab.Click("main form button[type=submit]")
		tab.WaitText("main", "“nightly export”")
		tab.WaitText("main", "Member")
	}
}
