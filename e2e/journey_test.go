//go:build e2e

package e2e_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"patchbay/internal/testing/browser"
)

// TestAnAdminAddsARealServerInTheBrowser goes the whole way with a server that we did not write: set up, add, test, sync,
// see the tools, sign out. Each page on the way has to be accessible in light and dark, and fit a phone.
func TestAnAdminAddsARealServerInTheBrowser(t *testing.T) {
	t.Parallel()
	upstream := startEverything(t)
	s := newHome(t).serve()
	tab := browser.Open(t)
	look := newLooker(t, tab)

	tab.Go(s.setupLink())
	look.at("setup")
	tab.Fill("[name=name]", "Ada")
	tab.Fill("[name=email]", "ada@example.com")
	tab.Fill("[name=password]", ownerPassword)
	tab.Click("main form button[type=submit]")
	tab.WaitPath("/")
	tab.WaitText("h1", "Welcome to Patchbay")
	look.at("home-empty")
	tab.Go(s.base + "/connectors")
	look.at("connectors-empty")

	tab.Go(s.base + "/connectors/new")
	tab.Fill("[name=name]", "Everything")
	tab.Fill("[name=url]", upstream)
	look.at("connector-new")
	tab.Click("button[formaction^='/connectors/test']")
	tab.WaitText("#test-result", "get-sum")
	look.at("connector-tested")
	tab.Click("main form button[type=submit]:not([formaction])")
	tab.WaitPath("/connectors/everything/start")
	tab.WaitText(".start-tools", "get-")
	look.at("connector-start")

	tab.Go(s.base + "/connectors/everything")
	tab.Click("form[action$='/sync_tools'] button")
	tab.WaitText("body", "tools from 'Everything'.")
	look.at("connector-overview")
	tab.Go(s.base + "/connectors/everything/tools")
	tab.WaitText(".tools", "get-sum")
	look.at("connector-tools")
	tab.Go(s.base + "/connectors/everything/tools/get-sum")
	tab.WaitText("h1", "get-sum")
	look.at("tool")

	tab.Go(s.base)
	tab.WaitText("#figures", "Last 24 hours")
	look.at("home")
	for _, page := range []string{
		"/connectors", "/connectors/everything/credentials", "/connectors/everything/runs", "/connectors/everything/settings",
		"/tools", "/tools?q=sum", "/agents", "/agents/new", "/members", "/api-keys", "/settings", "/account",
	} {
		tab.Go(s.base + page)
		look.at(strings.NewReplacer("/", "-", "?", "-", "=", "-").Replace(strings.TrimPrefix(page, "/")))
	}

	tab.Go(s.base + "/connectors/nowhere")
	tab.WaitText("body", "404")
	look.at("not-found")
	tab.Forgive("404")

	tab.Go(s.base + "/connectors")
	tab.Click("button[popovertarget=person]")
	tab.Click("form[action='/logout'] button")
	tab.WaitPath("/login")
	look.at("login")
	tab.Forgive("401 (Unauthorized)") // the page that listened may have asked once more before it was left

	tab.Fill("[name=email]", "ada@example.com")
	tab.Fill("[name=password]", ownerPassword)
	tab.Click("main form button[type=submit]")
	tab.WaitPath("/")
	tab.WaitText("h1", "Home")
}

// looker holds each page to what every page owes: no serious accessibility finding, nothing wider than a phone.
type looker struct {
	t   *testing.T
	tab *browser.Tab
	dir string // where pictures go; empty: none are taken
}

func newLooker(t *testing.T, tab *browser.Tab) looker {
	return looker{t: t, tab: tab, dir: os.Getenv("PATCHBAY_SCREENSHOTS")}
}

func (l looker) at(name string) {
	l.t.Helper()
	l.tab.Accessible()
	if l.dir != "" {
		l.tab.Screenshot(filepath.Join(l.dir, name+"-light.png"))
		l.tab.Dark(true)
		l.tab.Screenshot(filepath.Join(l.dir, name+"-dark.png"))
		l.tab.Dark(false)
	}
	l.tab.Size(360, 740)
	l.tab.Fits()
	if l.dir != "" {
		l.tab.Screenshot(filepath.Join(l.dir, name+"-phone.png"))
	}
	l.tab.Size(1280, 900)
}
