//go:build e2e

package admin_test

import (
	"fmt"
	"net/http"
	"testing"

	"patchbay/internal/connectors"
	"patchbay/internal/testing/fixture"
)

// A call that waits is decided from any page with two clicks.
func TestApproval_DecidedInTwoClicks(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	a, _, _ := d.addAnsweringServer(`{"content":[{"type":"text","text":"3 found"}]}`)
	tab := d.openSignedInTab(connectors.RoleOwner)
	for i, path := range []string{
		"/", "/connectors", "/connectors/new", "/connectors/linear/settings", "/connectors/linear/tools/search", "/tools", "/agents/support", "/access", "/calls",
		"/changes", "/catalog", "/members", "/settings", "/audit", "/account",
	} {
		call := d.createAskedCall(a, fmt.Sprintf(`{"q":"%d"}`, i))
		tab.Go(d.base + path)
		tab.WaitPath(path)
		person := tab.Count()
		person.Click(".places a[href='/approvals']")
		person.WaitPath("/approvals")
		person.Click("#approvals form[action='/approvals/" + call.String() + "/approve'] button[aria-label^=Approve]")
		person.WaitText("main", "Nothing waiting")
		person.AtMost(2, "deciding from "+path)
	}
}

// A release of a server changes forty tools, ten of them with a high risk, while another server's change waits. All forty are accepted from
// the home page.
func TestChanges_FortyInSixClicks(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	release := func(name, slug string, n int) {
		c := d.Connector(t, func(c *connectors.Draft) { c.Name, c.Slug, c.ToolChanges = name, slug, connectors.ToolChangesHoldAll })
		var before, after []connectors.Definition
		for i := range n {
			tool, added := fmt.Sprintf("tool_%02d", i), `,"title":"T"`
			if i < 10 {
				added = `,"annotations":{"openWorldHint":true},"x":1`
			}
			const raw = `{"name":"%s","description":"Reads.","inputSchema":{"type":"object"}%s}`
			before = append(before, fixture.DefinitionOf(tool, fmt.Sprintf(raw, tool, "")))
			after = append(after, fixture.DefinitionOf(tool, fmt.Sprintf(raw, tool, added)))
		}
		d.Resynced(t, c.ID, before...)
		d.Resynced(t, c.ID, after...)
	}
	release("Linear", "linear", 40)
	release("Notes", "notes", 1)
	tab := d.openSignedInTab(connectors.RoleAdmin)
	person := tab.Count()
	person.Click(".places a[href='/changes']")
	person.WaitPath("/changes")
	person.WaitText("#changes", "41 changes")
	person.Click("#changes a[href='/connectors/linear/changes']")
	person.WaitPath("/connectors/linear/changes")
	person.WaitText("#changes", "40 changes")
	person.Click("#changes [name=change]")
	person.WaitText("#decide-changes", "1 selected")
	person.Click("#decide-changes a[href*='choose=all']")
	person.WaitText("#decide-changes", "40 selected")
	person.Click("#decide-changes button[value=accept]")
	person.WaitText("h1", "Accept 40 changes?")
	person.WaitText("main", "10 of them are high risk")
	person.Forgive("422")
	person.Click("main form button[type=submit]:not([name])")
	person.WaitText("#notice", "Accepted 40 changes.")
	person.AtMost(6, "reviewing forty changes")
	d.signInAsRole(connectors.RoleAdmin).get("/changes").want(t, http.StatusOK, "1 change", "Notes")
}
