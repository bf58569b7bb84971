//go:build e2e

package admin_test

import (
	"net/url"
	"strings"
	"testing"

	"patchbay/internal/connectors"
	chromium "patchbay/internal/testing/browser"
)

func TestViews_FilteredListIsSaved(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	d.addConnectorAt("Linear", "https://mcp.example.com/mcp")
	d.addConnectorAt("Notes", "https://notes.example.com/mcp")
	tab := d.openSignedInTab(connectors.RoleMember)
	tab.Go(d.base + "/connectors")
	tab.Fill("main form[role=search] [name=q]", "lin")
	tab.WaitText("#connectors", "1 connector")
	tab.Click("[popovertarget=views]")
	tab.Fill("#views input", "Linear alone")
	tab.Click("[data-view-save]")
	tab.WaitText("#views ul", "Linear alone")
	checkAppearanceOf(t, tab, "views")
	if link := chromium.Eval[string](tab, `document.querySelector("#views [data-copy]").dataset.copy`); link != d.base+"/connectors?q=lin" {
		t.Errorf("the link is %s", link)
	}
	tab.Go(d.base + "/agents")
	tab.Click("[popovertarget=views]")
	tab.Click("#views ul a")
	tab.WaitPath("/connectors")
	tab.WaitText("main", "1 connector")
	if value := tab.Value("main form[role=search] [name=q]"); value != "lin" {
		t.Errorf("the filter is %q", value)
	}
	tab.Back("/agents")
	tab.Click("[popovertarget=views]")
	tab.Click("#views ul button")
	tab.WaitGone("#views ul li")
}

func TestTimesAreToldInThePersonsZone(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	d.signInAsRole(connectors.RoleAdmin).submit("/agents", url.Values{"name": {"Support"}, "approval": {"always_ask"}})
	tab := d.openSignedInTab(connectors.RoleAdmin)
	tab.Go(d.base + "/account")
	checkAppearanceOf(t, tab, "account-zone")
	tab.Choose("[data-zone]", "Asia/Tokyo")
	tab.WaitText("main", "Time zone")
	tab.Go(d.base + "/audit")
	tab.Click(".audit summary")
	tab.WaitText(".audit-detail", "GMT+9")
	title := chromium.Eval[string](tab, `document.querySelector(".audit-detail time").title`)
	if !strings.Contains(title, "GMT+9") || !strings.HasSuffix(title, " UTC") {
		t.Errorf("the tooltip is %q", title)
	}
	tab.Scripts(false)
	tab.Go(d.base + "/audit")
	tab.Scripts(true)
	if text := chromium.Eval[string](tab, `document.querySelector(".audit-detail time").textContent`); !strings.HasSuffix(text, " UTC") {
		t.Errorf("without script it is %q", text)
	}
}

func TestViews_MessagesAreKeptBehindTheBell(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	tab := d.openSignedInTab(connectors.RoleAdmin)
	tab.Go(d.base + "/notices")
	tab.WaitGone("#messages:not([hidden])")
	tab.Go(d.base + "/agents/new")
	tab.Fill("[name=name]", "Support")
	tab.Click("main form button[type=submit]")
	tab.WaitPath("/agents/support")
	said := strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(tab.Text("#notice p")), "×"))
	tab.Click(".bell")
	tab.WaitPath("/notices")
	tab.WaitText("#messages li", said)
	checkAppearanceOf(t, tab, "messages")
	tab.Click(".person")
	tab.Click("form[action='/logout'] button")
	tab.WaitPath("/login")
	if left := chromium.Eval[int](tab, `sessionStorage.length`); left != 0 {
		t.Error("the next person may read it")
	}
}
