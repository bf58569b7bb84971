//go:build e2e

package admin_test

import (
	"fmt"
	"net/url"
	"testing"

	"patchbay/internal/connectors"
	chromium "patchbay/internal/testing/browser"
)

func TestLists_InABrowser(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	var first connectors.Connector
	for i, name := range []string{"Linear", "Sentry", "Stripe", "Notion", "Internal CRM with a long name"} {
		c := d.addConnectorAt(name, "https://mcp.example.com/mcp")
		d.Synced(t, c.ID, "search", "create_issue")
		if i == 0 {
			first = c
		}
	}
	var support connectors.Agent
	for i := range 3 {
		a := d.Agent(t, func(a *connectors.Agent) {
			a.Name, a.Slug = fmt.Sprintf("Support bot %d", i), fmt.Sprintf("support-%d", i)
		})
		d.Grant(t, a.ID, first.ID)
		support = a
	}
	for range 3 {
		d.createWaitingCall(d.Tenant, support, first)
	}
	tab := d.openSignedInTab(connectors.RoleAdmin)

	tab.Go(d.base + "/connectors")
	if chromium.Eval[bool](tab, "document.querySelector('.bulk').checkVisibility()") {
		t.Error("the bar is there without a selection")
	}
	tab.Click("#connectors [value=linear]")
	if !chromium.Eval[bool](tab, "document.querySelector('.bulk').checkVisibility()") {
		t.Error("the bar is not there with a selection")
	}
	checkAppearanceOf(t, tab, "list-connectors")
	tab.Fill(".bulk [name=word]", "crm")
	tab.Click(".bulk [value=tag]")
	tab.WaitText("main", "1 connector updated.")
	for name, path := range map[string]string{
		"agents": "/agents", "agent-access": "/agents/support-0/access?choose=all", "matrix": "/access", "connector": "/connectors/linear", "connector-access": "/connectors/linear/access",
		"connector-calls": "/connectors/linear/calls", "connector-changes": "/connectors/linear/changes", "connector-tools": "/connectors/linear/tools",
	} {
		tab.Go(d.base + path)
		checkAppearanceOf(t, tab, "list-"+name)
	}

	tab.Go(d.base + "/calls?" + url.Values{"range": {"1h"}}.Encode())
	checkAppearanceOf(t, tab, "list-calls")
	tab.Click("#calls tbody tr:first-child .cover")
	tab.WaitText("#peek", "Arguments")
	checkAppearanceOf(t, tab, "list-peek")
	was := chromium.Eval[string](tab, "document.querySelector('#peek [id^=call-detail]').id")
	tab.Press("j")
	tab.WaitGone("#peek #" + was)
	tab.WaitText("#peek", "Arguments")
	const topRow = "document.querySelector('#calls tbody tr').id"
	top := chromium.Eval[string](tab, topRow)
	d.createEndedCall(d.Tenant, newCall(support, first, connectors.CallSuccess))
	tab.WaitText("#new-calls", "1 new call")
	if now := chromium.Eval[string](tab, topRow); now != top {
		t.Error("a row moves while the list is read")
	}
	checkAppearanceOf(t, tab, "list-new-calls")
	tab.Press("\x1b")
	tab.WaitGone("#peek:not([hidden])")
	tab.Click("#new-calls")
	tab.WaitGone("#" + top + ":first-child")
	tab.WaitGone("#new-calls:not([hidden])")
}
