//go:build e2e

package e2e_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"patchbay/internal/testing/browser"
)

// seeded is an installation filled by `patchbay seed`, with its upstream running and a tab signed in as Acorn's owner.
func seeded(t *testing.T) (*home, *server, *browser.Tab, client) {
	t.Helper()
	h := newHome(t)
	upstream := h.devMCP()
	s := h.serve()
	tab := browser.Open(t) // after the server, so that it is closed before the server ends, which it would report
	password := h.seed(upstream)
	tab.Go(s.base + "/login")
	tab.Fill("[name=email]", "owner@acorn.example")
	tab.Fill("[name=password]", password)
	tab.Press(kb.Enter)
	tab.WaitPath("/")
	key := h.run("apikey", "create", "--tenant", "acorn", "--role", "admin", "--name", "tests")
	return h, s, tab, client{t: t, base: s.base, key: key}
}

// seed fills the installation with samples without a past, and returns the password of Acorn's owner.
func (h *home) seed(upstream string) (password string) {
	h.t.Helper()
	for line := range strings.Lines(h.run("seed", "--no-history", "--dev-mcp", upstream)) {
		if fields := strings.Fields(line); len(fields) == 3 && fields[0] == "owner@acorn.example" {
			password = fields[2]
		}
	}
	return password
}

func TestASeededInstallationShowsEachStateOfAConnector(t *testing.T) {
	t.Parallel()
	_, s, tab, c := seeded(t)
	for _, slug := range []string{"tools", "streams", "guarded"} {
		c.must(http.StatusOK, http.MethodPost, "/connectors/"+slug+"/sync_tools", nil)
	}
	c.must(http.StatusBadGateway, http.MethodPost, "/connectors/broken/sync_tools", nil)
	c.must(http.StatusNoContent, http.MethodDelete, "/api/v1/connectors/guarded/credential", nil)
	c.must(http.StatusConflict, http.MethodPost, "/connectors/guarded/sync_tools", nil)
	c.must(http.StatusOK, http.MethodPatch, "/api/v1/connectors/streams", object{"enabled": false})

	look := newLooker(t, tab)
	tab.Go(s.base + "/connectors")
	for _, state := range []string{"Connected", "Disabled", "Needs authorization", "Sync failed"} {
		tab.WaitText("tbody", state)
	}
	look.at("seeded-connectors")
	for _, page := range []string{"broken", "guarded", "guarded/credentials", "tools/tools", "tools/tools/create_issue", "broken/runs"} {
		tab.Go(s.base + "/connectors/" + page)
		look.at("seeded-" + strings.ReplaceAll(page, "/", "-"))
	}
	tab.Go(s.base + "/agents/assistant")
	look.at("seeded-agent")
}

func TestARunningSyncShowsItsProgressWithoutReloading(t *testing.T) {
	t.Parallel()
	h, s, tab, c := seeded(t)
	slow := h.devMCP("--mode", "slow")
	c.must(http.StatusCreated, http.MethodPost, "/api/v1/connectors", object{"name": "Slow", "url": slow + "/mcp"})
	tab.Go(s.base + "/connectors")
	tab.WaitText("tbody", "Never synced")
	browser.Eval[bool](tab, `(window.marked = true)`)

	c.must(http.StatusAccepted, http.MethodPost, "/connectors/slow/sync_tools?wait=false", nil)
	tab.WaitText("tbody", "Syncing")
	tab.WaitText("tbody", "Connected")
	if !browser.Eval[bool](tab, `window.marked === true`) {
		t.Error("the page was loaded again")
	}
}

func TestTheDashboardWorksWithoutScript(t *testing.T) {
	t.Parallel()
	_, s, tab, c := seeded(t)
	upstream, _ := c.must(http.StatusOK, http.MethodGet, "/api/v1/connectors/tools", nil)["url"].(string)
	tab.Scripts(false)
	tab.Go(s.base + "/connectors")
	tab.Click("form[action='/connectors/tools/sync_tools'] button")
	tab.WaitText("body", "Discovered 12 tools from 'Tools'.")
	tab.Click("form[action='/connectors/broken/sync_tools'] button")
	tab.WaitText("body", "Sync failed: The server answered with HTTP 500")

	tab.Go(s.base + "/connectors/new")
	tab.Fill("[name=name]", "Again")
	tab.Fill("[name=url]", "ftp://127.0.0.1/mcp") // an address to the browser, and none to us
	tab.Click("main form button[type=submit]:not([formaction])")
	tab.WaitText("main .error", "http")
	tab.Forgive("422")
	if got := tab.Value("[name=name]"); got != "Again" {
		t.Errorf("the form lost the name: %q", got)
	}
	tab.Fill("[name=url]", upstream)
	tab.Click("button[formaction^='/connectors/test']")
	tab.WaitText("#test-result", "search_issues")
	tab.Click("main form button[type=submit]:not([formaction])")
	tab.WaitPath("/connectors/again/start")
	tab.Click("button[popovertarget=person]")
	tab.Click("form[action='/logout'] button")
	tab.WaitPath("/login")
}

func TestTheKeyboardFindsEverything(t *testing.T) {
	t.Parallel()
	_, s, tab, _ := seeded(t)
	tab.Go(s.base + "/connectors")
	tab.Press(kb.Tab)
	tab.Press(kb.Enter) // the link that skips the navigation
	tab.Press(kb.Tab)
	if at := browser.Eval[string](tab, `document.activeElement.closest("main") ? "main" : document.activeElement.outerHTML.slice(0, 200)`); at != "main" {
		t.Errorf("after skipping the navigation the focus is at %s", at)
	}
}
