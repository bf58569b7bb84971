package admin_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/testing/htmlcheck"
)

func TestTheAuditLogIsFilteredByItsAddress(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	b := d.as(connectors.RoleAdmin)
	b.get("/audit?target=linear").want(t, http.StatusOK, "No entry matches")
	b.submit("/connectors", url.Values{"name": {"Linear"}, "url": {"https://mcp.example.com/mcp"}, "auth.type": {"bearer"}, "auth.token": {"hunter2-hunter2"}})
	b.submit("/agents", url.Values{"name": {"Support"}, "approval": {"always_ask"}})
	p := b.get("/audit")
	p.want(t, http.StatusOK, "connector.create", "agent.create", "linear", "person", "Request:")
	htmlcheck.Parse(t, p.Body).Sound(t)
	if strings.Contains(p.Body, "hunter2") {
		t.Error("the log shows a secret")
	}
	today := time.Now().UTC().Format(time.DateOnly)
	b.get("/audit?action=connector&target=LIN&since="+today+"&until="+today).want(t, http.StatusOK, "1 event", "connector.create")
	b.get("/audit?action=connector.create").want(t, http.StatusOK, "1 event")
	for _, none := range []string{"actor=nobody", "target=github", "until=2001-01-01", "action=webhook"} {
		b.get("/audit?"+none).want(t, http.StatusOK, "No entry matches")
	}
	b.get("/audit?since=yesterday").want(t, http.StatusOK, "Write days as 2026-11-21.")
	d.as(connectors.RoleMember).get("/audit").want(t, http.StatusForbidden)
}

func TestTheAuditLogIsReadInABrowser(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	d.as(connectors.RoleAdmin).submit("/connectors", url.Values{"name": {"Linear"}, "url": {"https://mcp.example.com/mcp"}, "auth.type": {"none"}})
	tab := d.signedIn(connectors.RoleAdmin)
	tab.Go(d.base + "/audit")
	tab.Click(".audit summary")
	tab.WaitText(".audit-detail", "Request:")
	looked(t, tab, "audit")
}
