package store_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/store"
	"patchbay/internal/testing/fixture"
)

// tenantTables returns the tables with rows of one tenant, without partitions, from the database's catalog.
func tenantTables(t *testing.T) []string {
	t.Helper()
	tables := catalogue(t, `
		select pg_class.oid::regclass::text from pg_class join pg_attribute on attrelid = pg_class.oid
		where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition and attname = 'tenant_id'
		order by 1`)
	if len(tables) < 50 {
		t.Fatalf("%d tables of tenants are found: %q", len(tables), tables)
	}
	return tables
}

// TestTenantRuleOfSqlcNamesEveryTable holds the list in sqlc.yaml, which cannot ask the schema, against it.
func TestTenantRuleOfSqlcNamesEveryTable(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../sqlc.yaml")
	if err != nil {
		t.Fatal(err)
	}
	list := regexp.MustCompile(`\((tenants\|[a-z_|]+)\)\\\\b`).FindSubmatch(text)
	if list == nil {
		t.Fatal("sqlc.yaml has no list of tables")
	}
	want := "tenants|" + strings.Join(tenantTables(t), "|")
	if diff := cmp.Diff(strings.Split(want, "|"), strings.Split(string(list[1]), "|")); diff != "" {
		t.Errorf("tables in sqlc.yaml (-schema +listed):\n%s\nwrite (%s)", diff, want)
	}
}

// The second lock. sqlc vet has the same rule, for the author; this holds it where only Go is.
func TestQueries_NameTheTenant(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../../db/queries/*.sql")
	if err != nil || len(files) < 50 {
		t.Fatalf("%d files of queries: %v", len(files), err)
	}
	tenants, touching := tenantTables(t), 0
	touches := regexp.MustCompile(`(?i)\b(from|join|into|update|using)\s+(tenants|` + strings.Join(tenants, "|") + `)\b`)
	names := regexp.MustCompile(`(?i)\b(tenant_id|tenants\.id) = @tenant_id\b`)
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		system := strings.HasPrefix(filepath.Base(file), "system_")
		for _, query := range strings.Split(string(text), "-- name: ")[1:] {
			name, _, _ := strings.Cut(query, " ")
			exempt := strings.Contains(query, "@sqlc-vet-disable")
			scoped := names.MatchString(query) || insertsTenant(query)
			if touches.MatchString(query) {
				touching++
			}
			switch {
			case exempt && !system:
				t.Errorf("%s: %s works across tenants outside of system_*.sql", filepath.Base(file), name)
			case exempt && scoped:
				t.Errorf("%s: %s names the tenant, and says that it need not", filepath.Base(file), name)
			case touches.MatchString(query) && !scoped && !exempt:
				t.Errorf("%s: %s is on a tenant's table and does not say tenant_id = @tenant_id", filepath.Base(file), name)
			}
		}
	}
	if touching < 400 {
		t.Errorf("%d queries are on tables of tenants", touching)
	}
}

// insertion matches the columns and the values of an insert.
var insertion = regexp.MustCompile(`(?is)insert into \w+ \(([^)]*)\)\s*(?:values \(|select\s)(.*)`)

// insertsTenant reports whether a query inserts @tenant_id as the tenant_id.
func insertsTenant(query string) bool {
	m := insertion.FindStringSubmatch(query)
	if m == nil {
		return false
	}
	columns, values := strings.Split(m[1], ","), strings.Split(m[2], ",")
	at := slices.IndexFunc(columns, func(c string) bool { return strings.TrimSpace(c) == "tenant_id" })
	return at >= 0 && at < len(values) && regexp.MustCompile(`^\s*@tenant_id\b`).MatchString(values[at])
}

// The third lock.
func TestForeignKeys_StayWithinTenant(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	mine, theirs := w.Connector(t), w.ConnectorIn(t, w.Other)
	theirAgent := w.AgentIn(t, w.Other)
	w.SyncedIn(t, w.Other, theirs.ID, "search")
	hash := fixture.Definition("search").Hash

	// Through the door: the other tenant's rows are not there.
	err := w.Door().Connectors().SetCredential(t.Context(), store.NewCredential{
		ConnectorID: mine.ID, AgentID: &theirAgent.ID, Type: connectors.AuthBearer, Origin: connectors.Origin(mine.URL), Secret: "x",
	})
	wantKind(t, err, fault.NotFound)
	start := w.Start(mine.ID)
	start.AgentID = &theirAgent.ID
	_, err = w.Door().Syncs().Start(t.Context(), start)
	wantKind(t, err, fault.NotFound)

	// Around it, with row-level security open: the foreign keys hold.
	for name, sql := range map[string]string{
		"credential of their connector": fmt.Sprintf(`insert into credentials (tenant_id, id, connector_id, type, origin, sealed) values ('%s', gen_random_uuid(), '%s', 'bearer', 'https://a:443', '\x00')`, w.Tenant, theirs.ID),
		"credential of their agent":     fmt.Sprintf(`insert into credentials (tenant_id, id, connector_id, agent_id, type, origin, sealed) values ('%s', gen_random_uuid(), '%s', '%s', 'bearer', 'https://a:443', '\x00')`, w.Tenant, mine.ID, theirAgent.ID),
		"tool of their connector":       fmt.Sprintf(`insert into tools (tenant_id, connector_id, name, current_hash, review, first_seen_at, last_seen_at, changed_at) values ('%s', '%s', 't', '\x%s', 'new', now(), now(), now())`, w.Tenant, theirs.ID, hash),
		"run of their connector":        fmt.Sprintf(`insert into sync_runs (tenant_id, id, connector_id, trigger, state) values ('%s', gen_random_uuid(), '%s', 'manual', 'queued')`, w.Tenant, theirs.ID),
		"run with their agent":          fmt.Sprintf(`insert into sync_runs (tenant_id, id, connector_id, agent_id, trigger, state) values ('%s', gen_random_uuid(), '%s', '%s', 'manual', 'queued')`, w.Tenant, mine.ID, theirAgent.ID),
		"quarantine of their connector": fmt.Sprintf(`insert into quarantined_tools (tenant_id, connector_id, position, reason, raw) values ('%s', '%s', 1, 'r', '\x00')`, w.Tenant, theirs.ID),
	} {
		if err := asSystem(t.Context(), w.Pool, sql, nil); err == nil || !strings.Contains(err.Error(), "23503") {
			t.Errorf("%s: %v, want a foreign key violation", name, err)
		}
	}
}

// Where a key would cost too much the statement says the tenant, and a hash means nothing beyond it.
func TestColumns_WithoutForeignKeyStayWithinTenant(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	mine, theirs := w.Connector(t), w.ConnectorIn(t, w.Other)
	theirAgent := w.AgentIn(t, w.Other)
	w.SyncedIn(t, w.Other, theirs.ID, "search")
	now := time.Now()
	call := connectors.ToolCall{
		ID: connectors.ToolCallID{UUID: uuid.Must(uuid.NewV7())}, AgentID: &theirAgent.ID, AgentSlug: "a", ConnectorID: &theirs.ID, ConnectorSlug: "c",
		Kind: connectors.CallTool, Tool: "search", ExposedName: "search", Source: connectors.SourceGateway, Status: connectors.CallRunning, StartedAt: now,
	}
	if err := w.St.System().Calls().BeginCalls(t.Context(), []store.OwnedCall{{Tenant: w.Tenant, ToolCall: call}}); err != nil {
		t.Fatal(err)
	}
	ended := call
	ended.ID = connectors.ToolCallID{UUID: uuid.Must(uuid.NewV7())}
	ended.Status, ended.Outcome, ended.CompletedAt = connectors.CallSuccess, connectors.OutcomeOK, &now
	if err := w.St.System().Calls().EndCalls(t.Context(), []store.OwnedCall{{Tenant: w.Tenant, ToolCall: ended}}); err != nil {
		t.Fatal(err)
	}
	for _, id := range []connectors.ToolCallID{call.ID, ended.ID} {
		if c, err := w.Door().Calls().Get(t.Context(), id); err != nil || c.AgentID != nil || c.ConnectorID != nil {
			t.Errorf("call %+v, %v", c, err)
		}
	}
	wantKind(t, w.Door().Calls().InsertPendingCall(t.Context(), call), fault.NotFound)

	sql := fmt.Sprintf(`insert into tools (tenant_id, connector_id, name, current_hash, review, first_seen_at, last_seen_at, changed_at) values ('%s', '%s', 't', '\x%s', 'new', now(), now(), now())`,
		w.Tenant, mine.ID, fixture.Definition("search").Hash)
	if err := asSystem(t.Context(), w.Pool, sql, nil); err != nil {
		t.Fatal(err)
	}
	if list, err := w.Door().Tools().List(t.Context(), store.ToolFilter{}); err != nil || len(list.Items) != 0 {
		t.Errorf("tools %+v, %v", list.Items, err)
	}
}

// The fourth lock.
func TestWithoutATenantThereAreNoRows(t *testing.T) {
	t.Parallel()
	w := newOutsider(t)
	if err := store.RecordAnything(t.Context(), w.Door(), store.Event{ActorType: "system", Action: "test"}); err != nil {
		t.Fatal(err)
	}
	inserts := w.missingRows()
	for _, table := range append(tenantTables(t), "tenants") {
		if insert := inserts[table]; insert != "" {
			if err := asSystem(t.Context(), w.Pool, insert, nil); err != nil {
				t.Fatalf("%s: %v", table, err)
			}
		}
		var raw, all int
		if err := w.Pool.QueryRow(t.Context(), "select count(*) from "+table).Scan(&raw); err != nil {
			t.Fatal(err)
		}
		if raw != 0 {
			t.Errorf("%s: the runtime role sees %d rows without a tenant", table, raw)
		}
		if err := asSystem(t.Context(), w.Pool, "select count(*) from "+table, nil, &all); err != nil {
			t.Fatal(err)
		}
		if all == 0 && table != "quarantined_tools" {
			t.Errorf("%s has no rows at all: the test shows nothing", table)
		}
	}
}

// missingRows returns an insert for each tenant's table in which newOutsider leaves no row.
func (o outsider) missingRows() map[string]string {
	connector := fmt.Sprintf("'%s', '%s'", o.Tenant, o.connector.ID)
	revocation := fmt.Sprintf("select tenant_id, '%s', connector_id, origin, sealed", o.Tenant)
	return map[string]string{
		"connector_icons":     "insert into connector_icons (tenant_id, connector_id, media_type, picture) values (" + connector + `, 'image/png', '\x00')`,
		"account_revocations": "insert into account_revocations (tenant_id, id, connector_id, origin, sealed, grant_meta) " + revocation + ", '{}' from credentials limit 1",
		"revocation_clients": "insert into revocation_clients (tenant_id, id, connector_id, origin, sealed, client_id, issuer) " +
			revocation + ", 'c', 'i' from account_revocations limit 1",
		"connector_health":    "insert into connector_health (tenant_id, connector_id, hour, ok, failed, ms_sum, ms_max) values (" + connector + ", now(), 1, 0, 1, 1)",
		"notice_reads":        fmt.Sprintf("insert into notice_reads (tenant_id, notice_id, user_id) select tenant_id, id, '%s' from notices where tenant_id = '%s'", o.member.UserID, o.Tenant),
		"quota_days":          "insert into quota_days (tenant_id, connector_id, day, tool, calls, over_minute, over_day) values (" + connector + ", now(), 't', 1, 0, 0)",
		"retired_tenant_keys": fmt.Sprintf(`insert into retired_tenant_keys (tenant_id, prefix) values ('%s', '\x0102030405')`, o.Tenant),
		"search_terms":        "insert into search_terms (tenant_id, connector_id, tool, term, weight) values (" + connector + ", 't', 'w', 1)",
		"setup_links":         fmt.Sprintf(`insert into setup_links (tenant_id, token_hash) values ('%s', '\x00')`, o.Tenant),
		"sync_hours":          fmt.Sprintf("insert into sync_hours (tenant_id, hour, ok, failed) values ('%s', now(), 1, 0)", o.Tenant),
		"sync_run_requests":   fmt.Sprintf("insert into sync_run_requests (tenant_id, run_id, requests) values ('%s', '%s', '[]')", o.Tenant, o.running.ID),
		"tool_vectors": fmt.Sprintf(`insert into tool_vectors (tenant_id, definition_hash, model, vector)
			select tenant_id, hash, 'm', '\x01' from tool_definitions where tenant_id = '%s' limit 1`, o.Tenant),
		"usage_marks": fmt.Sprintf(`insert into usage_marks (tenant_id, since, hour, ok, failed, other, buckets, counts, syncs_ok, syncs_failed)
			values ('%s', now(), now(), 0, 0, 0, '{}', '{}', 0, 0)`, o.Tenant),
	}
}

func TestRLS_IsForcedForOwner(t *testing.T) {
	t.Parallel()
	w := newOutsider(t)
	conn, err := pgx.Connect(t.Context(), w.URL)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	tx, err := conn.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var superuser bool
	if err := tx.QueryRow(t.Context(), "select rolsuper from pg_roles where rolname = current_user").Scan(&superuser); err != nil {
		t.Fatal(err)
	}
	if superuser { // without locks: the tables get another owner within this transaction
		role := pgx.Identifier{"patchbay_owner_" + w.Tenant.String()}.Sanitize()
		statements := []string{"create role " + role + " nologin"}
		for _, table := range tenantTables(t) {
			statements = append(statements, "alter table "+table+" owner to "+role)
		}
		for _, sql := range append(statements, "set local role "+role) {
			if _, err := tx.Exec(t.Context(), sql); err != nil {
				t.Fatalf("%s: %v", sql, err)
			}
		}
	}
	for _, table := range tenantTables(t) {
		var seen int
		if err := tx.QueryRow(t.Context(), "select count(*) from "+table).Scan(&seen); err != nil || seen != 0 {
			t.Errorf("%s: its owner sees %d rows without a tenant (%v)", table, seen, err)
		}
	}
}

func TestEveryTableWithATenantIsLocked(t *testing.T) {
	t.Parallel()
	locked := catalogue(t, "select oid::regclass::text from pg_class where relrowsecurity and relforcerowsecurity")
	for _, table := range tenantTables(t) {
		if !slices.Contains(locked, table) {
			t.Errorf("%s has a tenant_id and no forced row-level security", table)
		}
	}
	if open := catalogue(t, `
		select pg_class.oid::regclass::text from pg_class join pg_attribute on attrelid = pg_class.oid
		where relispartition and relkind in ('r', 'p') and attname = 'tenant_id' and not relforcerowsecurity`); len(open) != 0 {
		t.Errorf("partitions with a tenant_id and without forced row-level security: %v", open)
	}
}

func TestNoTenantReachesWhatIsTheSystems(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	stranger := w.MemberIn(t, w.Other, connectors.RoleOwner) // with system sessions, to a tenant without them as a member
	for table, insert := range map[string]string{
		"sessions":         `insert into sessions (token, data, expiry) values ('t', '\x00', now())`,
		"browser_sessions": fmt.Sprintf(`insert into browser_sessions (id, user_id, began_at, seen_at) values (gen_random_uuid(), '%s', now(), now())`, stranger.UserID),
		"mcp_clients":      `insert into mcp_clients (id, name, redirect_uris) values (gen_random_uuid(), 'n', '{http://127.0.0.1/}')`,
		"sign_in_failures": `insert into sign_in_failures (account, address) values ('a', '192.0.2.1')`,
		"setup_links":      fmt.Sprintf(`insert into setup_links (token_hash, tenant_id) values ('\x00', '%s')`, w.Tenant),
		"kms_keys":         `insert into kms_keys (uri, wrapped) values ('hcvault://vault.example/transit/keys/x', '\x00')`,
		"keysets":          `insert into keysets (purpose, wrapped) values ('seal', '\x00') on conflict do nothing`,
	} {
		if err := asSystem(t.Context(), w.Pool, insert, nil); err != nil {
			t.Fatal(err)
		}
		for name, setting := range map[string]string{"a tenant": w.Tenant.String(), "nobody": ""} {
			tx := scoped(t, w, setting)
			var seen int
			if err := tx.QueryRow(t.Context(), "select count(*) from "+table).Scan(&seen); err != nil || seen != 0 {
				t.Errorf("%s: %s sees %d rows (%v)", table, name, seen, err)
			}
			if tag, err := tx.Exec(t.Context(), "delete from "+table); err != nil || tag.RowsAffected() != 0 {
				t.Errorf("%s: %s deletes %d rows (%v)", table, name, tag.RowsAffected(), err)
			}
			if _, err := tx.Exec(t.Context(), insert); err == nil || !strings.Contains(err.Error(), "row-level security") {
				t.Errorf("%s: %s inserts: %v", table, name, err)
			}
			if err := tx.Rollback(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// scoped is a transaction of the runtime role in a tenant's scope; empty: in none.
func scoped(t *testing.T, w *fixture.World, tenant string) pgx.Tx {
	t.Helper()
	tx, err := w.Pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = tx.Rollback(context.Background()) })
	if _, err := tx.Exec(t.Context(), "select set_config('app.tenant_id', $1, true)", tenant); err != nil {
		t.Fatal(err)
	}
	return tx
}

func TestRLS_RuntimeRoleIsUnprivileged(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	var role string
	var super, bypass, createRole bool
	var owns int
	err := w.Pool.QueryRow(t.Context(), `
		select current_user, rolsuper, rolbypassrls, rolcreaterole,
		       (select count(*) from pg_class where relowner = pg_roles.oid)
		from pg_roles where rolname = current_user`).Scan(&role, &super, &bypass, &createRole, &owns)
	if err != nil {
		t.Fatal(err)
	}
	if role != "patchbay_app" || super || bypass || createRole || owns > 0 {
		t.Errorf("role %s: superuser %v, bypasses %v, makes roles %v, owns %d tables", role, super, bypass, createRole, owns)
	}
	for _, sql := range []string{"update audit_events set action = 'x'", "delete from audit_events", "alter table connectors no force row level security", "drop table connectors"} {
		if _, err := w.Pool.Exec(t.Context(), sql); err == nil || !strings.Contains(err.Error(), "42501") {
			t.Errorf("%q: %v, want insufficient privilege", sql, err)
		}
	}
}

func TestARowOfAnotherTenantCannotBeWritten(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	_, err := scoped(t, w, w.Tenant.String()).Exec(t.Context(), "insert into agents (tenant_id, id, slug, name) values ($1, gen_random_uuid(), 's', 'n')", w.Other.String())
	if err == nil || !strings.Contains(err.Error(), "row-level security") {
		t.Errorf("insert into another tenant: %v", err)
	}
}

func TestAScopeEndsWithItsStatement(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	w.Connector(t)
	for range 20 { // every connection of the pool has served a tenant by now
		if _, err := w.Door().Connectors().List(t.Context(), store.ConnectorFilter{}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.St.System().Tenants(t.Context()); err != nil {
			t.Fatal(err)
		}
		var tenant, system string
		err := w.Pool.QueryRow(t.Context(), `select coalesce(current_setting('app.tenant_id', true), ''), coalesce(current_setting('app.system', true), '')`).Scan(&tenant, &system)
		if err != nil || tenant != "" || system != "" {
			t.Fatalf("a pooled connection still has tenant %q, system %q (%v)", tenant, system, err)
		}
	}
}

// asSystem runs one statement with row-level security open to all tenants.
func asSystem(ctx context.Context, pool *pgxpool.Pool, sql string, args []any, dest ...any) error {
	return pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "select set_config('app.system', 'on', true)"); err != nil {
			return err
		}
		if len(dest) == 0 {
			_, err := tx.Exec(ctx, sql, args...)
			return err
		}
		return tx.QueryRow(ctx, sql, args...).Scan(dest...)
	})
}
