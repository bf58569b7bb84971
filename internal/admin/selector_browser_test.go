//go:build e2e

package admin_test

import (
	"testing"
	"time"

	"patchbay/internal/connectors"

	chromium "patchbay/internal/testing/browser"
	"patchbay/internal/testing/fixture"
)

func TestToolSelector_ThousandToolsInABrowser(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	linear := d.addConnectorWithEffects("Linear", 250)
	a := d.Agent(t, func(a *connectors.Agent) { a.Name, a.Slug = "Support", "support" })
	d.Grant(t, a.ID, linear.ID, fixture.Named("list_thing_0", "create_thing_7"))
	tab, path := d.openSignedInTab(connectors.RoleAdmin), d.base+"/agents/support/connectors/linear"
	began := time.Now()
	tab.Go(path)
	tab.WaitText("[data-grant-count]", "2 of 1,000 selected")
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("the page took %v", took)
	}
	tab.Choose("[name=effect]", "read_only")
	tab.WaitText("[data-grant-shown]", "250 shown")
	tab.Fill(".filter [name=q]", "thing 24")
	tab.WaitText("[data-grant-shown]", "11 shown") // 24, and 240 to 249
	tab.Click("[data-choose=choose]")
	tab.WaitText("[data-grant-count]", "13 of 1,000 selected")
	if at := chromium.Eval[string](tab, "location.search"); at != "?effect=read_only&q=thing+24" {
		t.Errorf("the address says %q", at)
	}
	tab.Press("\r")
	tab.Click("form[data-grant] .sticky button[type=submit]")
	tab.WaitText("main", "“Support” can use 13 tools of “Linear”.")

	tab.Scripts(false)
	tab.Go(path + "?effect=destructive")
	tab.Click("[data-choose=choose]")
	tab.WaitText("[data-grant-count]", "263 of 1,000 selected")
	tab.Click("form[data-grant] .sticky button[type=submit]")
	tab.WaitText("main", "“Support” can use 263 tools of “Linear”.")
}

func TestTheSelectorIsSoundInABrowser(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	linear, github := d.addConnectorWithEffects("Linear", 2), d.addConnectorWithEffects("GitHub", 5)
	a := d.Agent(t, func(a *connectors.Agent) {
		a.Name, a.Slug, a.Approval = "Support", "support", connectors.ApprovalTrustedOnly
	})
	d.Grant(t, a.ID, linear.ID, func(g *connectors.Grant) {
		g.AllTools, g.Tools, g.TrustedTools = false, []string{"list_thing_0", "create_thing_0"}, []string{"list_thing_0"}
	})
	d.Grant(t, a.ID, github.ID)
	tab := d.openSignedInTab(connectors.RoleAdmin)
	tab.Go(d.base + "/agents/support/connectors/linear")
	tab.WaitText("[data-grant-count]", "2 of 8 selected")
	checkAppearanceOf(t, tab, "selector")
	tab.Go(d.base + "/agents/support/access")
	checkAppearanceOf(t, tab, "access")
}
