package admin_test

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"patchbay/internal/connectors"
	chromium "patchbay/internal/testing/browser"
)

// newDashboardWithPalette creates named things, and a signed-in tab.
func newDashboardWithPalette(t *testing.T) (*dashboard, *chromium.Tab) {
	t.Helper()
	d := newDashboard(t)
	d.Synced(t, d.addConnectorAt("Linear", "https://mcp.example.com/mcp").ID, "create_issue", "search")
	d.addConnectorAt("Notes", "https://notes.example.com/mcp")
	d.Agent(t, func(a *connectors.Agent) { a.Name, a.Slug = "Support", "support" })
	return d, d.openSignedInTab(connectors.RoleMember)
}

// paletteOptions are the palette's visible texts.
func paletteOptions(tab *chromium.Tab) string {
	return strings.Join(chromium.Eval[[]string](tab, `[...document.querySelectorAll("#palette [role=option]")].filter(o => o.checkVisibility()).map(o => o.innerText.replace(/\s+/g, " ").trim())`), ", ")
}

func TestThePaletteFindsThingsByKeyboard(t *testing.T) {
	t.Parallel()
	d, tab := newDashboardWithPalette(t)
	tab.Go(d.base + "/agents")
	chromium.Eval[bool](tab, `document.querySelector(".bell").focus() ?? true`)
	palette := func() {
		tab.Ctrl("k")
		tab.WaitText("#palette[open]", "")
	}
	palette()
	tab.WaitText("#palette", "Sync all connectors")
	checkAppearanceOf(t, tab, "palette")
	for _, never := range []string{"Add connector", "Add agent", "New API key", "Invite", "Members"} {
		if strings.Contains(paletteOptions(tab), never) {
			t.Errorf("a member is offered %q", never)
		}
	}
	tab.Press(kb.Escape)
	tab.WaitGone("#palette[open]")
	if !chromium.Eval[bool](tab, `document.activeElement.matches(".bell")`) {
		t.Error("the focus is not where it was")
	}

	palette()
	tab.Press("issue")
	tab.WaitText("#palette-found", "create_issue")
	checkAppearanceOf(t, tab, "palette-found")
	tab.WaitText("#palette [role=status]", "2 found")
	tab.Press(kb.ArrowDown)
	if id := chromium.Eval[string](tab, `document.activeElement.getAttribute("aria-activedescendant")`); id != "option-mentions" {
		t.Errorf("the arrow leads to %q", id)
	}
	tab.Press(kb.ArrowDown) // wraps around
	tab.Press(kb.Enter)
	tab.WaitPath("/connectors/linear/tools/create_issue")

	for typed, path := range map[string]string{"suppo": "/agents/support", "notes": "/connectors/notes", "audi": "/tools", "chang": "/changes"} {
		tab.Go(d.base + "/")
		palette()
		tab.Press(typed)
		tab.Press(kb.Enter)
		tab.WaitPath(path)
	}
}

func TestThePaletteDoesThings(t *testing.T) {
	t.Parallel()
	d, tab := newDashboardWithPalette(t)
	do := func(text string) {
		tab.Go(d.base + "/agents") // wait for the scripts: earlier keys go to the page
		tab.Ctrl("k")
		tab.WaitText("#palette[open]", "")
		tab.Press(text)
		tab.Press(kb.Enter)
	}
	do("sync linear")
	tab.WaitText(".flash", "Sync")
	do("sync all")
	tab.WaitText("#notice", "Queued a sync of")
	do("dark")
	tab.WaitText("html.dark", "")
	tab.WaitGone("#palette[open]")
	do("keyboard")
	tab.WaitText("#shortcuts[open] h2", "Keyboard shortcuts")
	tab.Press(kb.Escape)
	tab.WaitGone("#shortcuts[open]")
	do("sign out")
	tab.WaitPath("/login")
}

func TestTheSearchPageServesWithoutScript(t *testing.T) {
	t.Parallel()
	d, tab := newDashboardWithPalette(t)
	tab.Scripts(false)
	tab.Go(d.base + "/")
	tab.Click(".jump")
	tab.WaitPath("/search")
	tab.Fill("main [name=q]", "linear")
	tab.Click("main form[role=search] button")
	tab.WaitText("#found", "create_issue")
	tab.Click("#found form[action='/connectors/linear/sync_tools'] button")
	tab.WaitText(".flash", "Sync")
	tab.Scripts(true)
	tab.Go(d.base + "/search?q=linear")
	tab.WaitText("#found", "4 found")
	checkAppearanceOf(t, tab, "search")
	tab.Fill("main [name=q]", "nothing such")
	tab.WaitText("#found", "Nothing has that name")
}

func TestPalette_OffersWhatTheRoleAllows(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	d.addConnectorAt("Linear", "https://mcp.example.com/mcp")
	for _, role := range connectors.Roles {
		b := d.signInAsRole(role)
		for _, path := range []string{"/search", "/search?q=linear", "/search?q=sync+linear"} {
			for _, way := range offeredRoutes(b.get(path).Body) {
				pattern := strings.Replace(way, "/connectors/linear", "/connectors/{id}", 1)
				needs, known := routeRoles[pattern]
				if !known {
					t.Errorf("%s leads to %q, which is no route", path, way)
				} else if !mayUse(role, needs) {
					t.Errorf("a %s is offered %s", role, way)
				}
			}
		}
		if found := strings.Contains(b.get("/search?q=sync+linear").Body, "/connectors/linear/sync_tools"); found != role.May(connectors.PermOperate) {
			t.Errorf("a %s is offered a sync: %t", role, found)
		}
	}
}

// offeredRoutes are the routes that a search page links to, in its content and in the palette.
func offeredRoutes(body string) []string {
	var ways []string
	_, main, _ := strings.Cut(body, `<main`)
	for method, attribute := range map[string]string{"GET ": ` href="/`, "POST ": `action="/`} {
		for part := range strings.SplitSeq(main, attribute) {
			path, _, ok := strings.Cut(part, `"`)
			if at, err := url.Parse("/" + path); ok && err == nil && !strings.ContainsAny(path, " <>") && !strings.HasPrefix(at.Path, "/static/") {
				ways = append(ways, method+at.Path)
			}
		}
	}
	return slices.DeleteFunc(ways, func(way string) bool { return way == "POST /search" })
}

func TestThePalettesOptionsTravelAlone(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	d.Synced(t, d.addConnectorAt("Linear", "https://mcp.example.com/mcp").ID, "search")
	b := d.signInAsRole(connectors.RoleViewer)
	b.header.Set("Patchbay-Part", "options")
	before := d.Queries()
	p := b.get("/search?q=linear")
	p.want(t, http.StatusOK, `href="/connectors/linear"`, `href="/connectors/linear/tools/search"`)
	if n := d.Queries() - before; n > 3 || p.says("<html") {
		t.Errorf("%d statements for %s", n, p.Body)
	}
}
