//go:build e2e

package e2e_test

import (
	"net/http"
	"testing"
)

// TestApproval_RiskyCallWaitsWithWarning has an agent call what may destroy, and what reaches beyond its server.
func TestApproval_RiskyCallWaitsWithWarning(t *testing.T) {
	t.Parallel()
	_, s, tab, c := seeded(t)
	c.must(http.StatusOK, http.MethodPost, "/connectors/tools/sync_tools", nil)
	night := c.hire("night", "tools")
	c.must(http.StatusOK, http.MethodPatch, "/api/v1/agents/night", object{"approval": "always_ask"})
	look := newLooker(t, tab)

	tab.Go(s.base + "/approvals")
	deletion := night.ask("mcp_tools__delete_issue", `{"number":1,"confirm":true}`)
	tab.WaitText("#approvals", "delete_issue")
	tab.WaitText("#approvals", "destructive")
	tab.WaitText("#approvals", "The server says this tool may delete or overwrite data.")
	look.at("approval-destructive")
	tab.Click("#approvals form[action$='/approve'] button")
	tab.WaitText("main", "Nothing waiting")
	(<-deletion).wants(t, `"content"`)

	message := night.ask("mcp_tools__send_message", `{"to":"#general","text":"Hello"}`)
	tab.WaitText("#approvals", "send_message")
	tab.WaitText("#approvals", "open world")
	tab.WaitText("#approvals", "It reaches the web, other systems or people.")
	look.at("approval-open-world")
	tab.Click("#approvals form[action$='/approve'] button")
	tab.WaitText("main", "Nothing waiting")
	(<-message).wants(t, `"content"`)

	tab.Go(s.base + "/calls?agent=night")
	tab.WaitText("#calls tbody", "Success")
	tab.Click("#calls tr:has(.mono) a.cover")
	tab.WaitText("main", "Success")
	look.at("call-approved")
}

// TestEachApprovalModeAsksForWhatItSays sets an agent's mode in the browser, and calls a trusted tool and another one.
func TestEachApprovalModeAsksForWhatItSays(t *testing.T) {
	t.Parallel()
	_, s, tab, c := seeded(t)
	c.must(http.StatusOK, http.MethodPost, "/connectors/tools/sync_tools", nil)
	night := c.hire("night", "tools")
	look := newLooker(t, tab)
	for _, step := range []struct {
		mode          string
		trusted, asks bool // whether a call waits: of the tool that is trusted there, of the other
	}{
		{"always_ask", true, true}, {"auto", false, false}, {"trusted_only", false, true},
	} {
		tab.Go(s.base + "/agents/night/connectors/tools")
		tab.Choose("[name=approval]", step.mode)
		if step.mode == "trusted_only" {
			tab.Click("label.trusted:has([value=search_issues])")
			look.at("approval-mode-trusted")
		}
		tab.Click("[data-grant] .sticky button[type=submit]")
		if step.mode == "auto" {
			tab.WaitText("h1", "Never ask for “night” on")
			tab.Click("main form button[type=submit]")
			tab.Forgive("422")
		}
		tab.WaitPath("/agents/night/access")
		for tool, waits := range map[string]bool{"search_issues": step.trusted, "get_issue": step.asks} {
			tab.Go(s.base + "/approvals")
			tab.WaitText("main", "Nothing waiting")
			called := night.ask("mcp_tools__"+tool, map[string]string{"search_issues": `{"query":"login"}`, "get_issue": `{"number":17}`}[tool])
			if waits {
				tab.WaitText("#approvals", tool)
				look.at("approval-mode-" + step.mode)
				tab.Click("#approvals form[action$='/approve'] button[aria-label^=Approve]")
			}
			(<-called).wants(t, `"content"`)
		}
	}
	c.wantCalls("night", map[string]int{"success": 6})
}
