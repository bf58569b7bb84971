//go:build e2e

package admin_test

import (
	"strings"
	"testing"

	"patchbay/internal/connectors"
	"patchbay/internal/oauth/oauthtest"

	chromium "patchbay/internal/testing/browser"
)

// openSignedInTab opens a tab of a new member.
const connectButton = "form[action='/connectors/notes/connect'] button"

func (d *dashboard) openSignedInTab(role connectors.Role) *chromium.Tab {
	d.t.Helper()
	return d.openTabAs(d.createMember(role))
}

func (d *dashboard) openTabAs(m connectors.Member) *chromium.Tab {
	d.t.Helper()
	tab := chromium.Open(d.t)
	tab.Go(d.base + "/login")
	tab.Fill("[name=email]", m.Email)
	tab.Fill("[name=password]", password.Reveal())
	tab.Click("main form button[type=submit]")
	tab.WaitPath("/")
	return tab
}

// The redirect to the authorization server and back crosses sites twice. The content security policy restricts
// the form, and the session cookie is not sent with every cross-site request.
func TestConnect_RoundTripInABrowser(t *testing.T) {
	t.Parallel()
	for _, script := range []bool{true, false} {
		d := newDashboardAt(t, "localhost") // the other servers are at 127.0.0.1
		_, mcp := startProtectedServer(t, oauthtest.Behaviour{}, oauthtest.ResourceBehaviour{Scope: "notes:read"})
		tab := d.openSignedInTab(connectors.RoleAdmin)
		tab.Scripts(script)
		tab.Go(d.base + "/connectors/new")
		tab.Fill("[name=name]", "Notes")
		tab.Fill("[name=url]", mcp.URL)
		tab.Choose("[name='auth.type']", "oauth2")
		tab.Click("main form button[type=submit]:not([formaction])")
		tab.WaitPath("/connectors/notes/credentials")
		tab.Click(connectButton)
		tab.WaitText("main", "Connected “Notes”. Discovered 2 tools.")
		tab.WaitPath("/connectors/notes/credentials")

		tab.Click("form[action='/connectors/notes/connect-link'] button")
		tab.WaitText("main", "Link for all agents")
		link := tab.Text(".new-key pre")
		visitor := chromium.Open(t)
		visitor.Scripts(script)
		visitor.Go(link)
		visitor.Click("main form button")
		visitor.WaitPath("/connect/done")
		visitor.WaitText("main", "Connected “Notes”.")

		tab.Go(d.base + "/connectors/notes/credentials")
		tab.Click("form[action='/connectors/notes/diagnose'] button")
		tab.WaitText("#diagnosis", "Authorization server found.")
		tab.Click("[popovertarget=disconnect-shared]")
		tab.Click("form[action='/connectors/notes/disconnect'] button[type=submit]")
		tab.WaitText("main", "Disconnected “Notes”.")
	}
}

func TestConnectorForm_FieldsFollowAuthType(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	tab := d.openSignedInTab(connectors.RoleAdmin)
	tab.Go(d.base + "/connectors/new")
	tab.Fill("[name=name]", "Notes")
	tab.Fill("[name=url]", "https://mcp.example.com/mcp")
	for auth, want := range map[string]string{
		"none":               "auth.type",
		"bearer":             "auth.type auth.token",
		"oauth2":             "auth.type",
		"client_credentials": "auth.type auth.client_id auth.client_secret auth.scopes auth.issuer",
		"private_key_jwt":    "auth.type auth.client_id auth.private_key auth.algorithm auth.scopes auth.issuer",
	} {
		tab.Choose("[name='auth.type']", auth)
		if shown := fieldNames(tab, `f.offsetParent !== null && !f.closest("details:not([open])")`); shown != want {
			t.Errorf("%s shows %s, want %s", auth, shown, want)
		}
	}
	tab.Choose("[name='auth.type']", "oauth2")
	tab.Choose("[name='credential_mode']", "per_agent")
	sent := fieldNames(tab, `!f.matches(":disabled")`)
	if !strings.Contains(sent, "auth.client_secret") || strings.Contains(sent, "auth.private_key") || strings.Contains(sent, "auth.token ") {
		t.Errorf("an account per agent sends %s", sent)
	}
	tab.Choose("[name='auth.type']", "client_credentials")
	if sent := fieldNames(tab, `!f.matches(":disabled")`); strings.Contains(sent, "auth.client_secret") {
		t.Errorf("machines per agent send %s", sent)
	}
}

// fieldNames are the names of the authentication fields f that match a JavaScript condition.
func fieldNames(tab *chromium.Tab, condition string) string {
	return chromium.Eval[string](tab, `[...document.querySelector("[data-auth-form]").elements]
		.filter(f => f.name.startsWith("auth.") && (`+condition+`)).map(f => f.name).join(" ")`)
}
