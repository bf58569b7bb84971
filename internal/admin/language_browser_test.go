//go:build e2e

package admin_test

import (
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"patchbay/internal/connectors"
)

func TestAGermanPageFitsAPhone(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	d.signInAsRole(connectors.RoleAdmin).submit("/agents", url.Values{"name": {"Support"}, "approval": {"always_ask"}})
	tab := d.openSignedInTab(connectors.RoleOwner)
	tab.Go(d.base + "/")
	tab.Click("[popovertarget=person]")
	tab.Click("#person [lang=de]")
	tab.WaitText("h1", "Willkommen bei Patchbay")
	d.createNeeds() // from here on pages show failures and changes
	tab.Size(360, 800)
	for _, path := range []string{
		"/", "/connectors", "/connectors/new", "/connectors/stripe", "/connectors/linear/tools/search/changes", "/connectors/nowhere",
		"/agents/support", "/calls", "/approvals", "/notices", "/members", "/catalog", "/settings",
	} {
		tab.Go(d.base + path)
		tab.WaitText("#sidebar", "Freigaben")
		tab.Fits()
		if path == "/connectors/nowhere" {
			tab.Forgive("404")
		}
		if dir := os.Getenv("PATCHBAY_SCREENSHOTS"); dir != "" {
			tab.Screenshot(filepath.Join(dir, "german"+strings.ReplaceAll(path, "/", "-")+".png"))
		}
	}
	tab.Size(1360, 900)
	tab.Go(d.base + "/connectors")
	tab.Accessible()
	tab.Click("[popovertarget=person]")
	tab.Click("#person [lang=en]")
	tab.WaitText("h1", "Connectors")
	tab.WaitText("#sidebar", "Approvals")
}

func TestScriptsSpeakThePagesLanguage(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	d.Agent(t, func(a *connectors.Agent) { a.Name, a.Slug = "Support", "support" })
	d.addConnectorWithEffects("Linear", 2)
	tab := d.openSignedInTab(connectors.RoleAdmin)
	tab.Go(d.base + "/agents/support/connectors/linear")
	tab.WaitText("[data-grant-count]", "0 of 8 selected, about 0 tokens")
	tab.Click("[data-choose=choose]")
	tab.WaitText("[data-grant-count]", "8 of 8 selected, about")
	tab.Click("[popovertarget=person]")
	tab.Click("#person [lang=de]")
	tab.WaitText("#sidebar", "Freigaben")
	tab.WaitText("[data-grant-count]", "0 von 8 ausgewählt, etwa 0 Tokens")
	tab.Click("[data-choose=choose]")
	tab.WaitText("[data-grant-count]", "8 von 8 ausgewählt, etwa")
}
