//go:build e2e

package admin_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"patchbay/internal/connectors"
	"patchbay/internal/store"

	chromium "patchbay/internal/testing/browser"
)

// The pager leads to the second page of agents and back, and consent works there.
func TestAuthorize_AgentOfSecondPageInABrowser(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	for n := range store.MaxLimit + 1 {
		d.Agent(t, func(a *connectors.Agent) { a.Name, a.Slug = fmt.Sprintf("Agent %03d", n), fmt.Sprintf("agent-%03d", n) })
	}
	program := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("You can close this window.")) }))
	t.Cleanup(program.Close)
	tab := d.openSignedInTab(connectors.RoleAdmin)
	tab.Go(d.base + d.authorizePath("Inspector", program.URL+"/callback"))
	lists := func(agent string) bool {
		return chromium.Eval[bool](tab, `document.querySelector("[name=agent] option[value=`+agent+`]") !== null`)
	}
	tab.WaitText("main", "More agents on the next page.")
	if !lists("agent-000") || lists("agent-200") {
		t.Fatal("the first page is not the first")
	}
	checkAppearance(tab, "authorize-many")
	tab.Click("nav.pager [rel=next]")
	tab.WaitText("nav.pager", "First page")
	if lists("agent-000") || !lists("agent-200") {
		t.Error("the second page is not the rest")
	}
	if pager := tab.Text("nav.pager"); !strings.Contains(pager, "Last page of agents.") || strings.Contains(pager, "More agents") {
		t.Errorf("the last page says %s", pager)
	}
	checkAppearance(tab, "authorize-many-next")
	tab.Click("nav.pager a")
	tab.WaitText("nav.pager", "Next page")
	tab.Click("nav.pager [rel=next]")
	tab.WaitText("nav.pager", "First page")
	tab.Choose("[name=agent]", "agent-200")
	tab.Click("button[value=allow]")
	tab.WaitText("body", "You can close this window.")
	at := chromium.Eval[string](tab, "location.search")
	if q, err := url.ParseQuery(strings.TrimPrefix(at, "?")); err != nil || q.Get("code") == "" || q.Get("state") != "their-state" || q.Get("iss") == "" {
		t.Errorf("the program is answered %s", at)
	}
	var slug string
	d.AsSystem(t, "select a.slug from agent_clients c join agents a on a.tenant_id = c.tenant_id and a.id = c.agent_id", nil, &slug)
	if slug != "agent-200" {
		t.Errorf("the program is %s", slug)
	}
	tab.Go(d.base + "/account")
	tab.Forgive("favicon") // of the program's page
}

func TestAuthorize_Page(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	asked := d.authorizePath("Claude Desktop, the long name of which fills more than a line of a phone", programsCallback)
	d.Agent(t, func(a *connectors.Agent) { a.Name = "Research assistant" })
	tab := d.openSignedInTab(connectors.RoleAdmin)
	checkForEveryone(t, tab, d.base+asked)
	checkAppearance(tab, "authorize")
	tab.Go(d.base + "/account")
	checkAppearance(tab, "account")
}
