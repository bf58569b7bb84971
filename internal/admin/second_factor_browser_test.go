//go:build e2e

package admin_test

import (
	"strings"
	"testing"

	"patchbay/internal/connectors"
	"patchbay/internal/secret"

	chromium "patchbay/internal/testing/browser"
)

// signInAs gives the password, and leaves the tab at the page for the code.
const logoutForm = "form[action='/logout']"

func (d *dashboard) signInAs(tab *chromium.Tab, m connectors.Member) {
	d.t.Helper()
	tab.Go(d.base + "/login")
	tab.Fill("[name=email]", m.Email)
	tab.Fill("[name=password]", password.Reveal())
	tab.Click("main form button[type=submit]")
	tab.WaitPath("/login/code")
}

func TestSecondFactor_SetUpAndSignInInABrowser(t *testing.T) {
	t.Parallel()
	for _, script := range []bool{true, false} {
		d := newDashboard(t)
		m := d.createMember(connectors.RoleMember)
		tab := chromium.Open(t)
		tab.Scripts(script)
		tab.Go(d.base + "/login")
		tab.Fill("[name=email]", m.Email)
		tab.Fill("[name=password]", password.Reveal())
		tab.Click("main form button[type=submit]")
		tab.WaitPath("/")
		tab.Go(d.base + "/account/second-factor")
		tab.Click("main form[action='/account/second-factor'] button")
		tab.WaitText("main", "Scan this")
		key := secret.Text(strings.TrimSpace(tab.Text("main pre")))
		tab.Fill("main form [name=code]", "no code")
		tab.Click("main form[action='/account/second-factor/confirm'] button")
		tab.WaitText("main", "Wrong or used code.")
		tab.Forgive("422")
		tab.Fill("main form [name=code]", d.nextCode(key))
		tab.Click("main form[action='/account/second-factor/confirm'] button")
		tab.WaitText("main", "Your recovery codes")
		codes := strings.Fields(tab.Text("main pre"))
		if len(codes) != 10 {
			t.Fatalf("%d recovery codes", len(codes))
		}
		if script {
			checkAppearance(tab, "recovery-codes")
		}

		other := chromium.Open(t)
		other.Scripts(script)
		d.signInAs(other, m)
		if script {
			checkAppearance(other, "sign-in-code")
		}
		other.Fill("[name=code]", d.nextCode(key))
		other.Click("main form button[type=submit]")
		other.WaitPath("/")

		third := chromium.Open(t)
		third.Scripts(script)
		d.signInAs(third, m)
		third.Fill("[name=code]", codes[3])
		third.Click("main form button[type=submit]")
		third.WaitPath("/")
		third.Go(d.base + "/account/second-factor")
		third.WaitText("main", "9 recovery codes left.")
		if script {
			checkAppearance(third, "second-factor-on")
		}
		again := chromium.Open(t)
		again.Scripts(script)
		d.signInAs(again, m)
		again.Fill("[name=code]", codes[3])
		again.Click("main form button[type=submit]")
		again.WaitText("main", "Wrong or used code.")
		again.Forgive("422")
	}
}

// The QR code is checked in both themes, on a phone, and by axe.
func TestSecondFactorSetup_IsAccessible(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	tab := d.openSignedInTab(connectors.RoleOwner)
	tab.Go(d.base + "/account/second-factor")
	tab.Click("main form[action='/account/second-factor'] button")
	tab.WaitText("main", "Scan this")
	checkAppearance(tab, "second-factor-setup")
	checkForEveryone(t, tab, d.base+"/account/second-factor")
	d.AsOwner(t, "update tenants set second_factor_required = true")
	checkForEveryone(t, tab, d.base+"/account/second-factor")
	checkAppearance(tab, "second-factor-required")
	tab.Go(d.base + "/members")
	tab.WaitPath("/account/second-factor")
	tab.Click(logoutForm + " button")
	tab.WaitPath("/login")
}
