//go:build e2e

package admin_test

import (
	"testing"

	"patchbay/internal/connectors"

	chromium "patchbay/internal/testing/browser"
)

// TestNamedAccounts_MemberAddsOneInABrowser adds, renames and disconnects an account on the member's own pages.
func TestNamedAccounts_MemberAddsOneInABrowser(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	ada := d.createMember(connectors.RoleMember)
	_, _, path := d.createOwnAgent(ada, bearerAuth)
	tab := chromium.Open(t)
	tab.Go(d.base + path)
	tab.Fill("[name=email]", ada.Email)
	tab.Fill("[name=password]", password.Reveal())
	tab.Click("main form button[type=submit]")
	tab.WaitPath(path)
	tab.Fill("[name=token]", "one")
	tab.Click("form[action='" + path + "/credential'] button[type=submit]")
	tab.WaitText("main", "is connected")
	tab.Click("details.another summary")
	checkAppearance(tab, "own-account-another")
	tab.Fill("details.another [name=former]", "work")
	tab.Fill("details.another [name=account]", "home")
	tab.Fill("details.another [name=token]", "two")
	tab.Click("details.another button[type=submit]")
	tab.WaitText("main", "Account name")
	checkAppearance(tab, "own-account-named")
	tab.Go(d.base + "/account/connections")
	tab.WaitText("main", "work")
	tab.WaitText("main", "home")
	checkAppearance(tab, "own-accounts-several")
	tab.Click("[popovertarget^=disconnect-][popovertarget$='.home']")
	tab.WaitText("main", "Calls that use the account “home”")
	tab.Click("form[action='" + path + "/disconnect']:has([value=home]) button[type=submit]")
	tab.WaitText("main", "Disconnected")
	tab.WaitText("main", "work")
}
