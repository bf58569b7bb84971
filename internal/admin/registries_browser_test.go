//go:build e2e

package admin_test

import (
	"testing"

	"patchbay/internal/connectors"
)

func TestRegistry_IsPublishedInABrowser(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	for _, slug := range []string{"support", "nightly"} {
		d.Agent(t, func(a *connectors.Agent) { a.Name, a.Slug = "The agent "+slug, slug })
	}
	tab := d.openSignedInTab(connectors.RoleAdmin)
	for _, script := range []bool{true, false} {
		tab.Scripts(script)
		tab.Go(d.base + "/registries")
		tab.Click("main a[href='/registries/new']")
		tab.Fill("[name=name]", "Support team")
		tab.Click("[name=lists][value=agents]")
		tab.Click("[name=agent][value=support]")
		if script {
			checkAppearanceOf(t, tab, "registry-new")
		}
		tab.Click(".form button[type=submit]")
		tab.WaitText("main", "URL of “Support team”")
		tab.WaitText("main .code", d.base+"/registry/")
		if script {
			checkAppearanceOf(t, tab, "registry")
			tab.Go(d.base + "/registries")
			checkAppearanceOf(t, tab, "registries")
			tab.Click("main table a[href^='/registries/']")
			tab.WaitText("main", "Clients with the old URL lose the list at once.")
		}
		tab.Click("[popovertarget=delete]")
		tab.Click("form[action$='/delete'] button[type=submit]")
		tab.WaitText("main", "Registry deleted.")
	}
}
