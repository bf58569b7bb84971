//go:build e2e

package admin_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"patchbay/internal/connectors"
)

// An admin adds a stream, tests it, sees what is not sent and what is missing, pauses it, and deletes it.
func TestAuditStreams_InABrowser(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	there := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	t.Cleanup(there.Close)
	tab := d.openSignedInTab(connectors.RoleAdmin)
	tab.Go(d.base + "/audit")
	tab.Click("a[href='/audit/streams']")
	tab.WaitText("main", "No audit streams yet")
	checkAppearanceOf(t, tab, "audit-streams-empty")
	tab.Choose("[name=kind]", "syslog")
	tab.Fill("[name=ca]", "x") // shown for syslog only
	tab.Choose("[name=kind]", "https")
	tab.Fill("[name=name]", "SIEM")
	tab.Fill("[name=url]", there.URL+"/in")
	tab.Fill("[name=secret]", "Bearer planted-secret")
	tab.Click("#add button[type=submit]")
	tab.WaitText("main", "Stream added.")
	tab.Click("form[action$='/test'] button")
	tab.WaitText("main", "Test delivered in")
	checkAppearanceOf(t, tab, "audit-stream")
	d.AsSystem(t, `update audit_streams
		set gap = 'Records 1 to 3 of calls were removed before their delivery.', gap_at = now() - interval '2 hours', audit_n = audit_n + 1, failures = 3,
		    failing_since = now() - interval '20 minutes', last_error = 'It answered 503 Service Unavailable.', next_at = now() + interval '3 minutes',
		    delivered_at = now() - interval '25 minutes'`, nil)
	d.OldCalls(t, d.addConnectorAt("Linear", "https://mcp.example.com/mcp"), "search", 1, 1234)
	tab.Go(d.base + "/audit/streams")
	tab.WaitText("main", "Failing")
	checkAppearanceOf(t, tab, "audit-streams-failing")
	tab.Click("a.cover")
	tab.WaitText("main", "Records are missing")
	tab.WaitText("main", "1,234 of 1,234 not sent yet")
	tab.WaitText("main", "Failing since")
	checkAppearanceOf(t, tab, "audit-stream-failing")
	tab.Click("[popovertarget=person]")
	tab.Click("#person [lang=de]")
	tab.WaitText("main", "Einträge fehlen")
	tab.Size(390, 800)
	tab.Fits()
	if dir := os.Getenv("PATCHBAY_SCREENSHOTS"); dir != "" {
		tab.Screenshot(filepath.Join(dir, "audit-stream-german.png"))
	}
	tab.Size(1280, 900)
	tab.Click("[popovertarget=person]")
	tab.Click("#person [lang=en]")
	tab.Click("[popovertarget=disable]")
	tab.Click("#disable button[type=submit]")
	tab.WaitText("main", "Continues at its position.")
	tab.Click("[popovertarget=delete]")
	tab.Click("form[action$='/delete'] button[type=submit]")
	tab.WaitText("main", "Stream deleted.")
}
