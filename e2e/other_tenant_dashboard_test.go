//go:build e2e

package e2e_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"patchbay/internal/testing/browser"
)

// TestAnotherTenantSeesNothingOfItInTheBrowser fills one tenant, and looks around as the owner of another one: at its pages, and at the
// addresses of the first one's things.
func TestAnotherTenantSeesNothingOfItInTheBrowser(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	upstream := h.devMCP()
	s := h.serve()
	tab := browser.Open(t)
	s.setUp(newPerson(t))
	c := client{t: t, base: s.base, key: h.run("apikey", "create", "--tenant", "default", "--role", "owner", "--name", "tests")}
	c.must(http.StatusCreated, http.MethodPost, "/api/v1/connectors", object{"name": "Zebrafinch", "url": upstream + "/mcp"})
	c.must(http.StatusOK, http.MethodPost, "/connectors/zebrafinch/sync_tools", nil)
	okapi := c.hire("okapi", "zebrafinch")
	(<-okapi.ask("mcp_zebrafinch__list_labels", `{}`)).wants(t, "good first issue")
	c.must(http.StatusOK, http.MethodPatch, "/api/v1/agents/okapi", object{"approval": "always_ask"})
	call := c.must(http.StatusCreated, http.MethodPost, "/api/v1/agents/okapi/tool_calls", object{"tool": "mcp_zebrafinch__list_labels", "arguments": object{}})

	h.run("tenant", "create", "Globex", "--slug", "globex")
	h.env = append(h.env, "PATCHBAY_PASSWORD="+ownerPassword)
	h.run("user", "create", "--tenant", "globex", "--email", "other@example.com", "--role", "owner")
	tab.Go(s.base + "/login")
	tab.Fill("[name=email]", "other@example.com")
	tab.Fill("[name=password]", ownerPassword)
	tab.Click("main form button[type=submit]")
	tab.WaitPath("/")
	tab.WaitText("h1", "Welcome to Patchbay")
	other := newPerson(t)
	if in := other.post(s.base+"/login", url.Values{"email": {"other@example.com"}, "password": {ownerPassword}}); in.status != http.StatusSeeOther {
		t.Fatalf("signing in answers %d", in.status)
	}
	for _, page := range []string{
		"/", "/connectors", "/tools", "/tools?q=list_labels", "/search?q=zebra", "/search?q=okapi", "/agents", "/calls", "/tasks", "/approvals", "/changes",
		"/notices", "/audit", "/members", "/api-keys", "/webhooks", "/registries", "/settings", "/exports/calls", "/exports/connectors",
	} {
		text := strings.ToLower(other.get(s.base + page).body)
		for _, name := range []string{"zebrafinch", "okapi", "list_labels", ownerEmail} {
			asked := strings.Contains(page, name) || strings.Contains(page, "zebra") || strings.Contains(page, "okapi")
			if strings.Contains(text, name) && !asked {
				t.Errorf("%s says %q", page, name)
			}
		}
	}
	tab.Go(s.base + "/search?q=zebra")
	tab.WaitText("#found", "No matches")
	newLooker(t, tab).at("other-tenant-search")
	for _, path := range []string{"/connectors/zebrafinch", "/connectors/zebrafinch/tools/list_labels", "/agents/okapi", fmt.Sprintf("/calls/%v", call["id"]), fmt.Sprintf("/approvals/%v", call["id"])} {
		tab.Go(s.base + path)
		tab.WaitText("body", "404")
		if path == "/connectors/zebrafinch" {
			newLooker(t, tab).at("other-tenant-404")
		}
	}
	tab.Forgive("404")
}
