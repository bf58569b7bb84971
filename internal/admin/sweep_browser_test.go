//go:build e2e

package admin_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"patchbay/internal/connectors"

	chromium "patchbay/internal/testing/browser"
)

// checkAppearanceOf checks a page with axe and at 360 px, and saves screenshots if configured.
func checkAppearanceOf(t *testing.T, tab *chromium.Tab, name string) {
	t.Helper()
	shoot := func(kind string) {
		if dir := os.Getenv("PATCHBAY_SCREENSHOTS"); dir != "" {
			tab.Screenshot(filepath.Join(dir, name+"-"+kind+".png"))
		}
	}
	tab.Accessible()
	shoot("light")
	tab.Dark(true)
	shoot("dark")
	tab.Dark(false)
	tab.Size(360, 740)
	tab.Fits()
	shoot("phone")
	tab.Size(1280, 900)
}

func TestSweep_IsWatchedInABrowser(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	linear, notes := d.addConnectorAt("Linear", "https://mcp.example.com/mcp"), d.addConnectorAt("Notes", "https://notes.example.com/mcp")
	d.addConnectorAt("Sentry", "https://sentry.example.com/mcp")
	d.createSyncHistory(linear.ID)
	tab := d.openSignedInTab(connectors.RoleMember)
	tab.Go(d.base + "/connectors")
	tab.Click("form[action='/sync_tools'] button")
	tab.WaitText("#sweep", "0 of 3 done")
	d.runQueuedSync(linear, true)
	tab.WaitText("#sweep", "1 of 3 done")
	d.runQueuedSync(notes, false)
	tab.WaitText("#sweep", "1 failed")
	checkAppearanceOf(t, tab, "sweep")
	tab.Go(d.base + "/connectors")
	tab.WaitText("#sweep", "2 of 3 done")

	// An answer that was read before does not replace what the stream brought since. The text is read at once: the next event replaces it.
	answer := func(html, mark, want string) {
		t.Helper()
		chromium.Eval[bool](tab, `(htmx.swap({ text: `+html+`, target: document.getElementById("sweep"), swap: "outerMorph" }).then(() => {
			document.body.dataset.swept = document.getElementById("sweep").innerText;
			document.body.dataset.answered = "`+mark+`";
		}), true)`)
		tab.WaitText("body[data-answered='"+mark+"']", "")
		if said := chromium.Eval[string](tab, `document.body.dataset.swept`); !strings.Contains(said, want) {
			t.Errorf("after the answer of %s: %q, want %q", mark, said, want)
		}
	}
	older := `document.getElementById("sweep").outerHTML.replace("2 of 3 done", "0 of 3 done").replace('value="2"', 'value="0"')`
	answer(older, "the same run", "2 of 3 done")
	answer(strings.Replace(older, `.replace("2 of`, `.replace(/data-run="[^"]*"/, 'data-run="another"').replace("2 of`, 1), "another run", "0 of 3 done")

	tab.Go(d.base + "/connectors/linear")
	tab.WaitText("main", "Uptime and latency")
	tab.Click(".chart-table summary")
	tab.WaitText(".chart-table", "Slowest")
	checkAppearanceOf(t, tab, "health")
	tab.Go(d.base + "/connectors/notes/tools")
	tab.Scripts(false)
	tab.Go(d.base + "/connectors")
	if said := tab.Text("#sweep"); !strings.Contains(said, "2 of 3 done") || !strings.Contains(said, "Refresh progress") {
		t.Errorf("without script: %q", said)
	}
}
