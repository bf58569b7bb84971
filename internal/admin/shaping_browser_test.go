//go:build e2e

package admin_test

import (
	"testing"

	"patchbay/internal/connectors"
	chromium "patchbay/internal/testing/browser"
)

// An admin previews a rule, applies an advice with one click, and undoes it.
func TestShaping_AdviceInABrowser(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	a := d.Agent(t, func(a *connectors.Agent) { a.Name, a.Slug = "Support", "support" })
	c := d.addConnectorAt("Linear", "https://mcp.example.com/mcp")
	d.Synced(t, c.ID, "search")
	d.Grant(t, a.ID, c.ID)
	d.OldCalls(t, c, "search", 1, 2)
	d.AsSystem(t, `update tool_calls set content = convert_to(jsonb_build_array(jsonb_build_object('type', 'text', 'text',
		jsonb_build_object('items', (select jsonb_agg(jsonb_build_object('body_html', repeat('<p>some words</p> ', 60), 'title', repeat('words ', 30), 'id', n))
			from generate_series(1, 40) n))::text))::text, 'UTF8')`, nil)
	tab := d.openSignedInTab(connectors.RoleAdmin)
	tab.Go(d.base + "/agents/support/tools/mcp_linear__search")
	tab.Fill("[name=budget]", "500")
	tab.Click("#answers [name=preview]")
	tab.WaitText("#answers", "what this tool answers.")
	checkAppearanceOf(t, tab, "shaping-preview")
	tab.Click("#answers li summary")
	tab.WaitText("#answers li pre", "Shortened: ")
	checkAppearanceOf(t, tab, "shaping-preview-open")
	tab.Click("#answers .advice button")
	tab.WaitText(".flash", "Answers are shortened.")
	if got := tab.Value("[name=fields]"); got != "del(.items[]?.body_html?)" {
		t.Errorf("the filter is %q", got)
	}
	chromium.Eval[bool](tab, `document.querySelector("#notice button[form=undo]").focus() === undefined`) // it stays while it has the focus
	checkAppearanceOf(t, tab, "shaping-applied")
	tab.Click("#notice button[form=undo]")
	tab.WaitText(".flash", "The agent gets whole answers.")
	if got := tab.Value("[name=fields]"); got != "" {
		t.Errorf("after it is undone, the filter is %q", got)
	}
}
