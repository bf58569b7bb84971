//go:build e2e

package admin_test

import (
	"strings"
	"testing"

	"patchbay/internal/connectors"
	chromium "patchbay/internal/testing/browser"
)

func TestKeysLeadToPagesAndThroughTables(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	d.addConnectorAt("Linear", "https://mcp.example.com/mcp")
	d.addConnectorAt("Notes", "https://notes.example.com/mcp")
	tab := d.openSignedInTab(connectors.RoleMember)
	tab.Press("gc")
	tab.WaitPath("/connectors")
	focused := func() string { return chromium.Eval[string](tab, `document.activeElement.textContent.trim()`) }
	for _, step := range []struct{ keys, at string }{{"j", "Linear"}, {"j", "Notes"}, {"j", "Notes"}, {"k", "Linear"}} {
		tab.Press(step.keys)
		if at := focused(); at != step.at {
			t.Errorf("%s leads to %q, not %q", step.keys, at, step.at)
		}
	}
	tab.Press("\r")
	tab.WaitPath("/connectors/linear")
	tab.Press("gt")
	tab.WaitPath("/tasks")
	tab.Press("gm") // members are for owners
	tab.Press("/")
	tab.Press("gc?j")
	if typed := tab.Value("main [name=tool]"); !strings.HasSuffix(typed, "gc?j") || len(chromium.Eval[string](tab, `document.querySelector("#shortcuts").open ? "open" : ""`)) > 0 {
		t.Errorf("what is typed became %q, or was taken for keys", typed)
	}
}

func TestShortcuts_AreListedAndCanBeTurnedOff(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	tab := d.openSignedInTab(connectors.RoleOwner)
	tab.Go(d.base + "/agents")
	tab.Press("?")
	tab.WaitText("#shortcuts h2", "Keyboard shortcuts")
	checkAppearanceOf(t, tab, "shortcuts")
	tab.Press("gc") // a dialog is open
	tab.Press("\x1b")
	tab.WaitGone("#shortcuts[open]")
	tab.WaitPath("/agents")
	tab.Press("?")
	tab.Click("#shortcuts [name=keys]")
	tab.Click("#shortcuts header button")
	tab.WaitGone("#shortcuts[open]")
	tab.Press("gc?")
	tab.WaitGone("#shortcuts[open]")
	tab.WaitPath("/agents")
	tab.Click(".person")
	tab.Click("[data-shortcuts-open]")
	tab.Click("#shortcuts [name=keys]")
	tab.Press("\x1b")
	tab.WaitGone("#shortcuts[open]")
	tab.Press("gs")
	tab.WaitPath("/settings")
}
