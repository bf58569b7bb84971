//go:build e2e

package admin_test

import (
	"testing"
	"time"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
)

func TestUnsent_InABrowserWithoutScript(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	m := d.createMember(connectors.RoleAdmin)
	tab := d.openTabAs(m)
	tab.Scripts(false)
	tab.Go(d.base + "/agents/new")
	tab.Fill("[name=name]", "Late agent")
	d.signInAhead.Add(int64(auth.SessionIdle + time.Minute))
	tab.Click("main form[action='/agents'] button[type=submit]")
	tab.WaitPath("/login")
	tab.WaitText("body", "Sign in within 15 minutes to send your form.")
	tab.Fill("[name=email]", m.Email)
	tab.Fill("[name=password]", password.Reveal())
	tab.Click("main form button[type=submit]")
	tab.WaitPath("/unsent")
	tab.WaitText("body", "Name: Late agent")
	tab.Scripts(true)
	tab.Go(d.base + "/unsent")
	tab.WaitPath("/unsent")
	checkAppearanceOf(t, tab, "unsent")
	tab.Click("form[action*='unsent=1'] button")
	tab.WaitPath("/agents/late-agent")
}
