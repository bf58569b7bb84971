//go:build e2e

package e2e_test

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

func TestOldMonthsOfTheAuditLogAreCutOffByTheOperator(t *testing.T) {
	t.Parallel()
	h, database := ownDatabase(t)
	if said := h.run("migrate"); !strings.Contains(said, "The schema is current") {
		t.Fatal(said)
	}
	for _, sql := range []string{
		"insert into tenants (id, slug, name) values (gen_random_uuid(), 'acme', 'Acme')", "delete from tenants where slug = 'default'", // the first entries are of today
		"alter table audit_events detach partition audit_events_first", "alter table call_outcomes detach partition call_outcomes_first", "update audit_months set ends = date_trunc('month', now(), 'UTC') - interval '20 months'",
		`do $$ begin execute format('alter table audit_events attach partition audit_events_first for values from (minvalue) to (%L)', audit_id_at((select ends from audit_months))); end $$`,
		`do $$ begin execute format('alter table call_outcomes attach partition call_outcomes_first for values from (minvalue) to (%L)', (select ends from audit_months)); end $$`,
		`insert into audit_events (tenant_id, id, at, actor_type, actor_name, action, target)
		 select id, audit_id_at(now() - interval '2 years'), now() - interval '2 years', 'system', '', 'table.export', 'calls' from tenants where slug = 'acme'`,
		`insert into audit_streams (tenant_id, id, name, kind, url, format, origin, audit_n, audit_hash, calls_n, calls_hash, calls_record)
		 select t.id, gen_random_uuid(), 'SIEM', 'https', 'https://siem.example.com/', 'ndjson', 'https://siem.example.com:443', 0, h.hash, 0, h.hash, 0
		 from tenants t, (select decode(repeat('00', 32), 'hex') as hash) h where t.slug = 'acme'`,
	} {
		if _, err := database.Exec(t.Context(), sql); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
	h.run("apikey", "create", "--tenant", "acme", "--role", "auditor", "--name", "first")
	if o := h.try("audit", "cut", "--keep-days", "90"); o.code != 1 || !strings.Contains(o.stderr, "Keep at least 365 days") {
		t.Errorf("a quarter: %+v", o)
	}
	if o := h.try("audit", "cut", "--keep-days", "3650"); o.code != 0 || !strings.Contains(o.stdout+o.stderr, "Nothing removed") {
		t.Errorf("ten years: %+v", o)
	}
	if o := h.try("audit", "cut", "--keep-days", "365"); o.code != 0 || !strings.Contains(o.stdout+o.stderr, "acme: removed the entries up to 1") ||
		!strings.Contains(o.stdout, `acme: audit stream "SIEM" had not sent records 1 to 1 of audit`) || !strings.Contains(o.stdout+o.stderr, "Removed: audit_events_first") {
		t.Fatalf("%+v", o)
	}
	if list := h.run("audit", "verify"); !regexp.MustCompile(`(?m)^acme: 2 entries are unchanged, up to [0-9a-f]{64}; 1 earlier entries were removed, with a signature$`).MatchString(list) {
		t.Error(list)
	}
	export, signature := filepath.Join(h.dir, "export.jsonl"), filepath.Join(h.dir, "export.sig")
	said := regexp.MustCompile(`public key is (\S{44})`).FindStringSubmatch(h.run("audit", "export", "--tenant", "acme", "--file", export, "--signature", signature))
	if said == nil {
		t.Fatal("no key is said")
	}
	if o := newHome(t).try("audit", "verify", "--file", export, "--signature", signature, "--key", said[1]); o.code != 0 || !strings.Contains(o.stdout, "2 entries of tenant ") {
		t.Errorf("elsewhere: %+v", o)
	}
}

func TestAudit_FindsAlteredCallOutcome(t *testing.T) {
	t.Parallel()
	h, database := ownDatabase(t)
	h.run("migrate")
	h.run("tenant", "create", "Acme")
	write := func(sql string) {
		t.Helper()
		if _, err := database.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		write(`insert into tool_calls (tenant_id, id, agent_slug, connector_slug, tool, exposed_name, status, outcome, started_at, completed_at, duration_us)
			select id, audit_id_at(clock_timestamp()), 'support', 'linear', 'search', 'search', 'success', 'ok', now(), now(), 5 from tenants where slug = 'acme'`)
	}
	if list := h.run("audit", "verify"); !regexp.MustCompile(`(?m)^acme: 2 calls match the record, up to [0-9a-f]{64}$`).MatchString(list) || strings.Contains(list, "default: 0 calls") {
		t.Error(list)
	}
	write("update tool_calls set outcome = 'tool_error' where id = (select max(id::text)::uuid from tool_calls)")
	if o := h.try("audit", "verify", "--tenant", "acme"); o.code != 1 || !regexp.MustCompile(`(?m)^acme: batch 2 of 3: The call in the history doesn't match its recorded outcome\. Its id is [0-9a-f-]{36}\.$`).MatchString(o.stdout) {
		t.Errorf("%+v", o)
	}
}
