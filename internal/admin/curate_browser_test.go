//go:build e2e

package admin_test

import (
	"os"
	"path/filepath"
	"testing"

	"patchbay/internal/connectors"

	chromium "patchbay/internal/testing/browser"
)

// checkAppearance checks a page in both themes and on a phone, and saves screenshots in the directory
// PATCHBAY_SCREENSHOTS.
func checkAppearance(tab *chromium.Tab, name string) {
	shot := func(as string) {
		tab.Fits()
		if dir := os.Getenv("PATCHBAY_SCREENSHOTS"); dir != "" {
			tab.Screenshot(filepath.Join(dir, name+"-"+as+".png"))
		}
	}
	tab.Accessible() // in both themes
	tab.Dark(false)
	shot("light")
	tab.Dark(true)
	shot("dark")
	tab.Dark(false)
	tab.Size(360, 800)
	shot("phone")
	tab.Size(1360, 900)
}

func TestAPersonCuratesToolsInABrowser(t *testing.T) {
	t.Parallel()
	for _, script := range []bool{true, false} {
		d := newDashboard(t)
		addConnectorWithTools(t, d, d.signInAsRole(connectors.RoleAdmin))
		tab := d.openSignedInTab(connectors.RoleAdmin)
		tab.Scripts(script)
		tab.Go(d.base + "/connectors/linear/tools")
		for _, name := range []string{"create_issue", "delete_issue"} {
			tab.Click("input[name=tool][value=" + name + "]")
		}
		tab.Click("form#tools-bulk button[value=disable]")
		tab.WaitText("main", "Disabled 2 tools.")
		tab.Go(d.base + "/connectors/linear/tools") // wait for its scripts
		tab.Choose("select[name=state]", "disabled")
		if !script {
			tab.Click("form.filter button")
		}
		tab.WaitText("#tools [role=status]", "2 tools")
		tab.Go(d.base + "/connectors/linear/tools/search_issues")
		tab.Fill("[name=alias]", "find")
		chromium.Eval[bool](tab, `(document.querySelector("[name=agent_description]").value = "Finds issues of ours by words of their title.") !== ""`)
		tab.Fill("[name=tags]", "safe")
		tab.Click("form[action$='/curate'] button")
		tab.WaitText("main", "” saved.")
		tab.WaitText("main", "mcp_linear__find")
		if script {
			checkAppearance(tab, "tool-curated")
			tab.Go(d.base + "/connectors/linear/tools")
			tab.WaitText("#tools", "find")
			checkAppearance(tab, "connector-tools")
			tab.Go(d.base + "/connectors/linear")
			checkAppearance(tab, "connector-overview")
			tab.Go(d.base + "/connectors/linear/runs/" + d.listRuns(d.findConnector("linear").ID)[0].ID.String())
			checkAppearance(tab, "connector-run")
			tab.Go(d.base + "/connectors/linear/settings")
			checkAppearance(tab, "connector-settings")
		}
	}
}
