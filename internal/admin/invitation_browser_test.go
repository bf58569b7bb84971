//go:build e2e

package admin_test

import (
	"testing"

	"patchbay/internal/connectors"

	chromium "patchbay/internal/testing/browser"
)

func TestABrowserInvitesAndIsInvited(t *testing.T) {
	t.Parallel()
	for _, script := range []bool{true, false} {
		d := newDashboard(t)
		tab := d.openSignedInTab(connectors.RoleOwner)
		tab.Scripts(script)
		tab.Go(d.base + "/members#invite")
		tab.Fill("#invite [name=email]", "grace@example.com")
		tab.Choose("#invite [name=role]", "admin")
		tab.Click("#invite button[type=submit]")
		tab.WaitText("main", "Link for grace@example.com")
		if script {
			checkAppearance(tab, "invitation-made")
		}
		link := tab.Text(".new-key pre")

		visitor := chromium.Open(t)
		visitor.Scripts(script)
		visitor.Go(link)
		visitor.WaitText("main", "Join Acme")
		if script {
			checkAppearance(visitor, "invitation-join")
		}
		visitor.Fill("[name=name]", "Grace")
		visitor.Fill("[name=password]", password.Reveal())
		visitor.Click("main form button[type=submit]")
		visitor.WaitPath("/")
		visitor.WaitText("main", "Welcome to Acme.")
		visitor.Go(link)
		visitor.WaitText("main", "Invitation already used")
		visitor.Forgive("404")
	}
}
