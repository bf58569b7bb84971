package db_test

import (
	"maps"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/jackc/pgx/v5"

	"patchbay/db"
	"patchbay/internal/testing/pgtest"
)

// saveAsBefore is how a server of the previous release stores an account.
const saveAsBefore = `insert into credentials (tenant_id, id, connector_id, agent_id, type, origin, sealed, last_used_at)
	values ('00000000-0000-7000-8000-000000000001', $1, '00000000-0000-7000-8000-000000000003', $2, 'bearer', 'https://a.example', 'x', $3)
	on conflict on constraint credentials_owner_key do update set sealed = excluded.sealed, version = credentials.version + 1`

func TestMigrate_NamesAccounts(t *testing.T) {
	t.Parallel()
	address := pgtest.Empty(t)
	earlier := withMigrations(t, nil)
	maps.DeleteFunc(earlier, func(name string, _ *fstest.MapFile) bool { return name >= "00162" })
	if err := db.MigrateFiles(t.Context(), address, earlier, db.LockPatience, silent); err != nil {
		t.Fatal(err)
	}
	conn := connect(t, address)
	const tenant, connector = "00000000-0000-7000-8000-000000000001", "00000000-0000-7000-8000-000000000003"
	run(t, conn,
		"select set_config('app.system', 'on', false)",
		"insert into tenants (id, slug, name) values ('"+tenant+"', 'a', 'A')",
		`insert into connectors (tenant_id, id, slug, name, url, transport, credential_mode, auth_type, timeout_ms, retry_attempts, enabled, sync_interval_s, tool_changes)
		 values ('`+tenant+"', '"+connector+"', 'a', 'A', 'https://a.example/mcp', 'streamable_http', 'per_agent', 'bearer', 1000, 0, true, 0, 'hold_risky')")
	agents := []string{"00000000-0000-7000-8000-000000000011", "00000000-0000-7000-8000-000000000012"}
	for i, agent := range agents {
		run(t, conn, "insert into agents (tenant_id, id, slug, name) values ('"+tenant+"', '"+agent+"', 'a"+agent[34:]+"', 'A')")
		if _, err := conn.Exec(t.Context(), saveAsBefore, agent, agent, []string{"2026-02-01", "2026-01-01"}[i]); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.MigrateFiles(t.Context(), address, withMigrations(t, nil), db.LockPatience, silent); err != nil {
		t.Fatal(err)
	}
	rows, err := conn.Query(t.Context(), "select name || ' ' || syncs from credentials order by id")
	if err != nil {
		t.Fatal(err)
	}
	if got, err := pgx.CollectRows(rows, pgx.RowTo[string]); err != nil || strings.Join(got, ", ") != "default false, default false" {
		t.Errorf("the accounts: %q, %v", got, err)
	}

	// a server of the previous release goes on
	if tag, err := conn.Exec(t.Context(), saveAsBefore, "00000000-0000-7000-8000-000000000021", agents[0], nil); err != nil || tag.RowsAffected() != 1 {
		t.Errorf("an account is replaced: %v", err)
	}
	if tag, err := conn.Exec(t.Context(), saveAsBefore, "00000000-0000-7000-8000-000000000022", nil, nil); err != nil || tag.RowsAffected() != 1 {
		t.Errorf("an account is added: %v", err)
	}
	run(t, conn, "update credentials set name = 'work' where agent_id = '"+agents[1]+"'")
	if _, err := conn.Exec(t.Context(), saveAsBefore, "00000000-0000-7000-8000-000000000023", agents[1], nil); err == nil {
		t.Error("an account without a name stands beside one with a name")
	}
}
