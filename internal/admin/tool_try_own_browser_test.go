//go:build e2e

package admin_test

import (
	"testing"

	"patchbay/internal/connectors"
)

func TestAnAdminTriesAToolInABrowser(t *testing.T) {
	t.Parallel()
	for _, script := range []bool{true, false} {
		d := newDashboard(t)
		d.addUngrantedServer(searchTool)
		d.saveIcon(d.Tenant, d.addLinear())
		failing := d.addConnectorAt("Sentry", "https://mcp.sentry.dev/mcp")
		d.failSyncs(failing.ID, "timeout")
		d.failSyncs(d.addConnectorAt("Plain", "https://plain.example.com/mcp").ID, "timeout")
		a := d.Agent(t, func(a *connectors.Agent) { a.Name, a.Slug = "Support", "support" })
		d.Grant(t, a.ID, failing.ID)
		tab := d.openSignedInTab(connectors.RoleAdmin)
		tab.Scripts(script)
		tab.Go(d.base + "/connectors/linear/tools/search")
		tab.Fill("[name='arg.0']", "rivers")
		tab.Click("#try button:not([name])")
		tab.WaitText("#try", "may change or delete data")
		tab.Forgive("409")
		if script {
			checkAppearance(tab, "tool-try-question")
		}
		tab.Click("#try button[name=confirm]")
		tab.WaitText("#result", "3 found")
		if !script {
			continue
		}
		checkAppearance(tab, "tool-try-own")
		for name, path := range map[string]string{
			"icon-connectors": "/connectors", "icon-tools": "/tools", "icon-access": "/agents/support/access", "icon-home": "/", "icon-connector": "/connectors/linear", "own-calls": "/calls",
		} {
			tab.Go(d.base + path)
			checkAppearance(tab, name)
		}
	}
}
