//go:build e2e

package e2e_test

import (
	"net/http"
	"testing"
)

// TestNamedAccounts_BoundOneIsShown adds an account in the browser, binds one of the two to an agent, and sees it at an approval and at
// the call.
func TestNamedAccounts_BoundOneIsShown(t *testing.T) {
	t.Parallel()
	_, s, tab, c := seeded(t)
	c.must(http.StatusOK, http.MethodPost, "/connectors/guarded/sync_tools", nil)
	night := c.hire("night")
	c.must(http.StatusOK, http.MethodPatch, "/api/v1/agents/night", object{"approval": "always_ask"})
	look := newLooker(t, tab)

	tab.Go(s.base + "/connectors/guarded/credentials")
	tab.Click("details.another summary")
	tab.Fill("details.another [name=former]", "work")
	tab.Fill("details.another [name=account]", "home")
	tab.Fill("details.another [name=token]", "dev-token")
	tab.Click("details.another button[type=submit]")
	tab.WaitText("main", "Used for syncs")
	look.at("accounts-several")

	tab.Go(s.base + "/agents/night/connectors/guarded")
	tab.Click("[name=account][value=home]")
	tab.Click("[data-choose=choose]")
	look.at("accounts-grant")
	tab.Click("[data-grant] .sticky button[type=submit]")
	tab.WaitPath("/agents/night/access")
	tab.WaitText("main", "Account home")

	asked := night.ask("mcp_guarded__search_issues", `{"query":"login"}`)
	tab.Go(s.base + "/approvals")
	tab.WaitText("#approvals", "search_issues")
	tab.WaitText("#approvals", "home")
	look.at("accounts-approval")
	tab.Click("#approvals form[action$='/approve'] button")
	tab.WaitText("main", "Nothing waiting")
	(<-asked).wants(t, `"content"`)
	tab.Go(s.base + "/calls?agent=night")
	tab.WaitText("#calls tbody", "Success")
	tab.Click("#calls tr:has(.mono) a.cover")
	tab.WaitText("main", "home")
	look.at("accounts-call")

	tab.Go(s.base + "/agents/night/connectors/guarded")
	tab.Click("[name=account][value=work]")
	tab.Click("[data-grant] .sticky button[type=submit]")
	tab.WaitPath("/agents/night/access")
	tab.WaitText("main", "Accounts home, work")
	tab.Go(s.base + "/agents/night/tools")
	tab.WaitText("main", "mcp_guarded_work__search_issues")
	look.at("accounts-of-a-grant")
	asked = night.ask("mcp_guarded_work__search_issues", `{"query":"login"}`)
	tab.Go(s.base + "/approvals")
	tab.WaitText("#approvals", "work")
	tab.Click("#approvals form[action$='/approve'] button")
	tab.WaitText("main", "Nothing waiting")
	(<-asked).wants(t, `"content"`)
}
