//go:build e2e

package e2e_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"patchbay/internal/testing/browser"
)

// TestAnAdminConnectsAnAccountInTheBrowser adds a connector in the dashboard, signs in at the authorization server, and comes
// back to its tools.
func TestAnAdminConnectsAnAccountInTheBrowser(t *testing.T) {
	t.Parallel()
	w := newConnecting(t)
	w.s.setUp(newPerson(t))
	tab := browser.Open(t)
	look := newLooker(t, tab)
	tab.Go(w.s.base + "/login")
	tab.Fill("[name=email]", ownerEmail)
	tab.Fill("[name=password]", ownerPassword)
	tab.Click("main form button[type=submit]")
	tab.WaitPath("/")

	tab.Go(w.s.base + "/connectors/new")
	tab.Fill("[name=name]", "Notes")
	tab.Fill("[name=url]", w.as.Origin+"/mcp")
	tab.Choose("[name='auth.type']", "oauth2")
	look.at("oauth-new")
	tab.Click("main form button[type=submit]:not([formaction])")
	tab.WaitPath("/connectors/notes/credentials")
	look.at("oauth-needs-connecting")
	tab.Click("form[action='/connectors/notes/connect'] button")
	w.as.agree(tab, "ada@example.com")
	tab.WaitText("body", "Connected “Notes” as ")
	tab.WaitText("body", "Discovered ")
	said := tab.Text("body") // the notice goes after some seconds
	tab.WaitText("main", "ada@example.com")
	tab.WaitText("main", "tools:read")
	look.at("oauth-connected")

	names := w.c.tools("notes")
	if want := fmt.Sprintf("Discovered %d tools.", len(names)); !strings.Contains(said, want) {
		t.Errorf("the notice does not say %q", want)
	}
	connector := w.c.must(http.StatusOK, http.MethodGet, "/api/v1/connectors/notes", nil)
	if len(names) == 0 || connector["status"] != "ok" || connector["auth_behaviour"] != "all_auth" {
		t.Errorf("the connector after connecting: %v", connector)
	}
	tab.Go(w.s.base + "/connectors/notes/tools")
	tab.WaitText(".tools", names[0])
	tab.Go(w.s.base + "/connectors/notes/credentials")
	tab.Click("form[action='/connectors/notes/diagnose'] button")
	tab.WaitText("#diagnosis", w.as.Issuer)
	look.at("oauth-diagnosis")
}
