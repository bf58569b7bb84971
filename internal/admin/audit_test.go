package admin_test

import (
	"html"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/store"
	"patchbay/internal/testing/htmlcheck"
)

func TestAudit_Filters(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	b := d.signInAsRole(connectors.RoleAdmin)
	b.get("/audit?target=linear").want(t, http.StatusOK, "No matching entries")
	b.submit("/connectors", url.Values{"name": {"Linear"}, "url": {"https://mcp.example.com/mcp"}, "auth.type": {"bearer"}, "auth.token": {"hunter2-hunter2"}})
	b.submit("/agents", url.Values{"name": {"Support"}, "approval": {"always_ask"}})
	p := b.get("/audit")
	p.want(t, http.StatusOK, "connector.create", "agent.create", "linear", "person", "Request:", "hmac:", "https://mcp.example.com/mcp")
	htmlcheck.Parse(t, p.Body).Sound(t)
	if strings.Contains(p.Body, "hunter2") {
		t.Error("the log shows a secret")
	}
	today := time.Now().UTC().Format(time.DateOnly)
	b.get("/audit?action=connector&target=LIN&since="+today+"&until="+today).want(t, http.StatusOK, "2 events", "connector.create", "connector.sync")
	b.get("/audit?action=connector.create").want(t, http.StatusOK, "1 event")
	for _, none := range []string{"actor=nobody", "target=github", "until=2001-01-01", "action=webhook"} {
		b.get("/audit?"+none).want(t, http.StatusOK, "No matching entries")
	}
	b.get("/audit?since=yesterday").want(t, http.StatusOK, "Use dates like 2026-11-21.")
	d.signInAsRole(connectors.RoleMember).get("/audit").want(t, http.StatusForbidden)
}

func TestTheAuditLogIsVerifiedWithAClick(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	b := d.signInAsRole(connectors.RoleAdmin)
	b.get("/audit").want(t, http.StatusOK, "Not verified yet", "Verify now")
	for _, name := range []string{"One", "Two", "Three"} {
		b.submit("/agents", url.Values{"name": {name}, "approval": {"always_ask"}})
	}
	b.submit("/audit/verify", nil).want(t, http.StatusOK, "Log verified: all entries intact.", "All entries intact", "Last verified")

	second := "(select id from audit_events where tenant_id = '" + d.Tenant.String() + "' and target = 'two')"
	d.AsOwner(t, "update audit_events set target = 'four' where id = "+second)
	p := b.submit("/audit/verify", nil)
	p.want(t, http.StatusOK, "The log was altered.", "Entry 3 was altered", "This entry or an earlier one was altered.", "Show entry")
	htmlcheck.Parse(t, p.Body).Sound(t)
	b.get(findLink(t, p.Body, "/audit?entry=")).want(t, http.StatusOK, "1 event", "four", "Doesn't match the record", "Show all")

	d.AsOwner(t, "delete from audit_events where target = 'four'")
	p = b.submit("/audit/verify", nil)
	p.want(t, http.StatusOK, "The entry was removed", "Show previous entry")
	b.get(findLink(t, p.Body, "/audit?entry=")).want(t, http.StatusOK, "1 event", "one")
	b.get("/audit?entry=none").want(t, http.StatusOK, "No matching entries")
	d.signInAsRole(connectors.RoleMember).post("/audit/verify", nil).want(t, http.StatusForbidden)
}

func TestAudit_CallOutcomesAreVerified(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	b := d.signInAsRole(connectors.RoleAdmin)
	d.OldCalls(t, d.Connector(t), "search", 1, 3)
	b.submit("/audit/verify", nil).want(t, http.StatusOK, "Log verified: all entries intact.", "All recorded outcomes match", "3 calls match")
	d.AsSystem(t, "update tool_calls set outcome = 'tool_error' where id = (select min(id::text)::uuid from tool_calls)", nil)
	p := b.submit("/audit/verify", nil)
	p.want(t, http.StatusOK, "Some recorded outcomes don't match.", "Recorded outcomes don't match", "A finished call was changed in the database.", "Show call")
	htmlcheck.Parse(t, p.Body).Sound(t)
	b.get(findLink(t, p.Body, "/calls/")).want(t, http.StatusOK, "search")
	d.AsSystem(t, "delete from tool_calls where id = (select min(id::text)::uuid from tool_calls)", nil)
	b.submit("/audit/verify", nil).want(t, http.StatusOK, "A call was removed from the database too early.")
	d.AsOwner(t, "delete from call_outcomes where n = 1")
	b.submit("/audit/verify", nil).want(t, http.StatusOK, "Recorded outcomes were changed in the database.")
}

func TestAuditExport_SignatureVerifies(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	b := d.signInAsRole(connectors.RoleAdmin)
	b.get("/audit").want(t, http.StatusOK, "Signed export", "Public key")
	b.submit("/agents", url.Values{"name": {"Support"}, "approval": {"always_ask"}})
	p := b.get("/audit")
	signer, err := d.Door().Audit().Signer()
	if err != nil || !strings.Contains(p.Body, html.EscapeString(signer.PublicKey())) {
		t.Fatalf("the page does not show the key (%v)", err)
	}
	entries := b.get(findLink(t, p.Body, "/audit/export.jsonl"))
	entries.want(t, http.StatusOK, "agent.create")
	b.get("/audit").want(t, http.StatusOK, "table.export") // a later entry is not covered by the signature
	signature := b.get(findLink(t, p.Body, "/audit/export.sig"))
	signature.want(t, http.StatusOK)
	check, err := store.CheckAuditFile(strings.NewReader(entries.Body), signature.Body, signer.PublicKey())
	if err != nil || check.Signed != nil || check.Bad != nil || check.Events == 0 {
		t.Errorf("%+v, %v", check, err)
	}
	for _, place := range []string{"", "?until=0", "?until=1000", "?until=x"} {
		b.get("/audit/export.jsonl"+place).want(t, http.StatusNotFound)
	}
}

func TestAnExportThatCannotBeginIsAPage(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	b := d.signInAsRole(connectors.RoleAdmin)
	b.submit("/agents", url.Values{"name": {"Support"}, "approval": {"always_ask"}})
	export := findLink(t, b.get("/audit").Body, "/audit/export.jsonl")
	d.AsOwner(t, "revoke select on audit_events from patchbay_app")
	p := b.get(export)
	p.want(t, http.StatusInternalServerError)
	if as := p.Header.Get("Content-Disposition"); as != "" || p.says("agent.create") {
		t.Errorf("what failed comes as %q", as)
	}
}

func TestAuditExport_BrokenOffIsNotComplete(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	b := d.signInAsRole(connectors.RoleAdmin)
	b.submit("/agents", url.Values{"name": {"Support"}, "approval": {"always_ask"}})
	d.AsOwner(t, "insert into audit_events select (jsonb_populate_record(e, jsonb_build_object('id', gen_random_uuid()))).* from audit_events e, generate_series(1, 2500) where e.action = 'agent.create'")
	export := findLink(t, b.get("/audit").Body, "/audit/export.jsonl")
	d.AsOwner(t, "update audit_events set at = 'infinity' where id = (select event_id from audit_chain where n = 2400)") // a time that Go cannot parse
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, b.base+export, nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := b.client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	if err == nil || !strings.Contains(string(text), "agent.create") || !strings.Contains(res.Header.Get("Content-Disposition"), "audit.jsonl") {
		t.Errorf("%d bytes of %q end with %v", len(text), res.Header.Get("Content-Disposition"), err)
	}
}

// findLink is the first address in a page with the prefix.
func findLink(t *testing.T, body, prefix string) string {
	t.Helper()
	_, rest, found := strings.Cut(body, `href="`+prefix)
	if !found {
		t.Fatalf("nothing leads to %s…", prefix)
	}
	rest, _, _ = strings.Cut(rest, `"`)
	return prefix + rest
}

func TestAudit_FilterNamesWhatActionsAreAbout(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	p := d.signInAsRole(connectors.RoleOwner).get("/audit?action=agent_grant")
	p.want(t, http.StatusOK, `<option value="agent_grant" selected>Access</option>`, ">Standing approvals</option>")
	if p.says(">agent_allowance</option>") {
		t.Error("the filter offers codes")
	}
}
