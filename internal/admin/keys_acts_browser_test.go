//go:build e2e

package admin_test

import (
	"slices"
	"testing"

	"patchbay/internal/connectors"
	chromium "patchbay/internal/testing/browser"
)

// keysListed are the single keys that the list of shortcuts names for what one does.
func keysListed(tab *chromium.Tab) []string {
	tab.Press("?")
	tab.WaitText("#shortcuts h2", "Keyboard shortcuts")
	listed := chromium.Eval[[]string](tab, `[...document.querySelectorAll("#shortcuts section:last-of-type kbd")].map((k) => k.textContent)`)
	tab.Press("\x1b")
	tab.WaitGone("#shortcuts[open]")
	return slices.DeleteFunc(listed, func(key string) bool { return !slices.Contains([]string{"c", "e", "x", "a", "d"}, key) })
}

func TestKeyActs_CreateEditAndSelect(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	d.addConnectorAt("Linear", "https://mcp.example.com/mcp")
	d.Agent(t)
	tab := d.openSignedInTab(connectors.RoleAdmin)
	tab.Go(d.base + "/agents")
	tab.WaitPath("/agents")
	if listed := keysListed(tab); !slices.Equal(listed, []string{"x", "c", "e", "a", "d"}) {
		t.Errorf("an admin's list names %q", listed)
	}
	tab.Press("c")
	tab.WaitPath("/agents/new")
	tab.Click("[name=name]")
	tab.Press("ceaxd")
	if typed := tab.Value("[name=name]"); typed != "ceaxd" {
		t.Errorf("the field has %q", typed)
	}
	tab.WaitPath("/agents/new")

	tab.Go(d.base + "/connectors/linear")
	tab.WaitPath("/connectors/linear")
	tab.Press("e")
	tab.WaitPath("/connectors/linear/settings")

	tab.Go(d.base + "/connectors")
	tab.WaitPath("/connectors")
	chosen := func() bool {
		return chromium.Eval[bool](tab, `document.querySelector("input[name=connector]").checked`)
	}
	tab.Press("x") // no row has the focus
	if chosen() {
		t.Error("x selects without a row")
	}
	tab.Press("jx")
	tab.WaitText("form[data-bulk]", "1 selected")
	tab.Press("x")
	if chosen() {
		t.Error("x does not clear")
	}
}

func TestKeyActs_ApproveAndDeny(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	a, _, _ := d.addAnsweringServer(`{"content":[{"type":"text","text":"3 found"}]}`)
	tab := d.openSignedInTab(connectors.RoleMember)
	first := d.createAskedCall(a, `{"q":"lakes"}`)
	tab.Go(d.base + "/approvals/" + first.String())
	tab.WaitText("main", "lakes")
	if listed := keysListed(tab); !slices.Equal(listed, []string{"x", "a", "d"}) {
		t.Errorf("a member's list names %q", listed)
	}
	tab.Click("[name=reason]")
	tab.Press("ad")
	if typed := tab.Value("[name=reason]"); typed != "ad" {
		t.Errorf("the reason is %q", typed)
	}
	chromium.Eval[bool](tab, `document.activeElement.blur() === undefined`)
	tab.Press("a")
	tab.WaitText("main", "Approved, done")
	second := d.createAskedCall(a, `{"q":"rivers"}`)
	tab.Go(d.base + "/approvals/" + second.String())
	tab.WaitText("main", "rivers")
	tab.Press("d")
	tab.WaitText("main", "Denied")
}

func TestKeyActs_NothingForAViewer(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	a, _, _ := d.addAnsweringServer(`{"content":[{"type":"text","text":"3 found"}]}`)
	asked := d.createAskedCall(a, `{"q":"lakes"}`)
	tab := d.openSignedInTab(connectors.RoleViewer)
	for path, ready := range map[string]string{"/agents": "Support", "/connectors": "Linear", "/connectors/linear": "Linear", "/approvals/" + asked.String(): "Waiting for approval"} {
		tab.Go(d.base + path)
		tab.WaitText("main", ready)
		if listed := keysListed(tab); len(listed) > 0 {
			t.Errorf("%s: a viewer's list names %q", path, listed)
		}
		chromium.Eval[bool](tab, `(window.marked = true)`)
		tab.Press("ceadjx")
		if !chromium.Eval[bool](tab, `window.marked === true`) {
			t.Errorf("%s: a viewer's key leads elsewhere", path)
		}
	}
	d.signInAsRole(connectors.RoleViewer).get("/approvals/"+asked.String()).want(t, 200, "Waiting for approval")
}
