//go:build e2e

package admin_test

import (
	"net/url"
	"testing"

	"patchbay/internal/connectors"
)

func TestTheAuditLogIsReadInABrowser(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	d.signInAsRole(connectors.RoleAdmin).submit("/connectors", url.Values{"name": {"Linear"}, "url": {"https://mcp.example.com/mcp"}, "auth.type": {"none"}})
	d.signInAsRole(connectors.RoleAdmin).submit("/connectors/linear/enabled", url.Values{"enabled": {"false"}})
	tab := d.openSignedInTab(connectors.RoleAdmin)
	tab.Go(d.base + "/audit?action=connector")
	tab.Click(".audit summary")
	tab.WaitText(".audit-detail", "Request:")
	tab.WaitText(".audit-changes", "enabled")
	checkAppearanceOf(t, tab, "audit")
	d.OldCalls(t, d.findConnector("linear"), "search", 1, 3)
	tab.Go(d.base + "/audit")
	tab.Click("form[action='/audit/verify'] button")
	tab.WaitText("main", "3 calls match")
	checkAppearanceOf(t, tab, "audit-calls")
}
