//go:build e2e

package admin_test

import (
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
	tab.WaitText("#notice", "Syncing ")
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

// optionTexts are the visible texts of a group of the palette.
func optionTexts(tab *chromium.Tab, group string) string {
	return strings.Join(chromium.Eval[[]string](tab, `[...document.querySelectorAll("`+group+` [role=option]")].filter(o => o.checkVisibility()).map(o => o.innerText.replace(/\s+/g, " ").trim())`), ", ")
}

func TestThePaletteBeginsWithThePagesActsAndRecentPages(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	d.Agent(t, func(a *connectors.Agent) { a.Name, a.Slug = "Support", "support" })
	tab := d.openSignedInTab(connectors.RoleAdmin)
	palette := func() {
		tab.Ctrl("k")
		tab.WaitText("#palette[open]", "")
	}
	for typed, path := range map[string]string{"suppo": "/agents/support", "chang": "/changes"} {
		tab.Go(d.base + "/")
		palette()
		tab.Press(typed)
		tab.WaitText("#palette [aria-selected=true]", strings.ToUpper(typed[:1])+typed[1:])
		tab.Press(kb.Enter)
		tab.WaitPath(path)
	}
	tab.Go(d.base + "/agents")
	palette()
	acts, recent, all := optionTexts(tab, "#palette-acts"), optionTexts(tab, "#palette-recent"), paletteOptions(tab)
	if !strings.Contains(acts, "Add agent") || !strings.Contains(recent, "Support") || !strings.Contains(recent, "Changes") {
		t.Errorf("acts: %s; recent pages: %s", acts, recent)
	}
	if !strings.HasPrefix(all, acts+", "+recent+", ") {
		t.Errorf("the palette does not begin with the page's acts and recent pages: %s", all)
	}
	tab.Press("add agent")
	tab.Press(kb.Enter)
	tab.WaitPath("/agents/new")
}

func TestKeyC_AddsTheFirstAgent(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	tab := d.openSignedInTab(connectors.RoleAdmin)
	tab.Go(d.base + "/agents")
	tab.WaitText("main", "No agents yet")
	tab.Press("c")
	tab.WaitPath("/agents/new")
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
	tab.WaitText("#found", "No matches")
}
