//go:build e2e

package admin_test

import (
	"testing"

	"patchbay/internal/connectors"
	"patchbay/internal/oauth/oauthtest"

	chromium "patchbay/internal/testing/browser"
)

func TestOwnAccount_MemberConnects(t *testing.T) {
	t.Parallel()
	for _, script := range []bool{true, false} {
		d := newDashboardAt(t, "localhost") // the other servers are at 127.0.0.1
		_, mcp := startProtectedServer(t, oauthtest.Behaviour{}, oauthtest.ResourceBehaviour{Scope: "notes:read"})
		ada := d.createMember(connectors.RoleMember)
		a, _, path := d.createOwnAgent(ada, func(c *connectors.Draft) {
			c.Name, c.Slug, c.URL, c.Auth.Type = "Notes", "notes", mcp.URL, connectors.AuthOAuth2
		})
		_, _, second := d.createOwnAgent(ada, bearerAuth)
		tab := chromium.Open(t)
		tab.Scripts(script)
		tab.Go(d.base + path)
		tab.Fill("[name=email]", ada.Email)
		tab.Fill("[name=password]", password.Reveal())
		tab.Click("main form button[type=submit]")
		tab.WaitPath(path)
		tab.WaitText("main", a.Name+" needs your account to act on your behalf.")
		tab.Click("form[action='" + path + "/connect'] button")
		tab.WaitPath(path)
		tab.WaitText("main", "Notes is connected")
		tab.Go(d.base + "/account/connections")
		tab.WaitText("main", "Connected")
		if script {
			for page, name := range map[string]string{path: "own-account-connected", second: "own-account-entered", "/account/connections": "own-accounts"} {
				checkForEveryone(t, tab, d.base+page)
				checkAppearance(tab, name)
			}
		}
		tab.Go(d.base + "/account/connections")
		tab.Click("form[action='" + path + "/connect'] button")
		tab.WaitText("main", "Notes is connected")
		tab.Go(d.base + "/account/connections")
		tab.Click("[popovertarget^=disconnect-]")
		tab.Click("form[action='" + path + "/disconnect'] button[type=submit]")
		tab.WaitText("main", "Disconnected “Notes”.")
		tab.WaitText("main", "Not connected")
	}
}
