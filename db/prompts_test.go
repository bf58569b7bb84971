package db_test

import (
	"maps"
	"testing"
	"testing/fstest"

	"github.com/jackc/pgx/v5"

	"patchbay/db"
	"patchbay/internal/testing/pgtest"
)

func TestMigrate_ExistingGrantsKeepPromptsAndResources(t *testing.T) {
	t.Parallel()
	address := pgtest.Empty(t)
	earlier := withMigrations(t, nil)
	maps.DeleteFunc(earlier, func(name string, _ *fstest.MapFile) bool { return name >= "00095" })
	if err := db.MigrateFiles(t.Context(), address, earlier, db.LockPatience, silent); err != nil {
		t.Fatal(err)
	}
	conn := connect(t, address)
	const tenant, agent, connector = "00000000-0000-7000-8000-000000000001", "00000000-0000-7000-8000-000000000002", "00000000-0000-7000-8000-000000000003"
	run(t, conn,
		"select set_config('app.system', 'on', false)",
		"insert into tenants (id, slug, name) values ('"+tenant+"', 'a', 'A')",
		"insert into agents (tenant_id, id, slug, name) values ('"+tenant+"', '"+agent+"', 'a', 'A')",
		`insert into connectors (tenant_id, id, slug, name, url, transport, credential_mode, auth_type, timeout_ms, retry_attempts, enabled, sync_interval_s, tool_changes)
		 values ('`+tenant+"', '"+connector+"', 'a', 'A', 'https://a.example/mcp', 'streamable_http', 'shared', 'none', 1000, 0, true, 0, 'hold_risky')",
		"insert into agent_grants (tenant_id, agent_id, connector_id, all_tools, tools) values ('"+tenant+"', '"+agent+"', '"+connector+"', false, '{read}')",
	)
	if err := db.Migrate(t.Context(), address, silent); err != nil {
		t.Fatal(err)
	}
	const included = "select prompts || ' ' || resources from agent_grants"
	rows, err := conn.Query(t.Context(), included)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := pgx.CollectExactlyOneRow(rows, pgx.RowTo[string]); err != nil || got != "listed listed_and_templates" {
		t.Errorf("a grant of before includes %q (%v)", got, err)
	}
	if _, err := conn.Exec(t.Context(), "update agent_grants set resources = 'any'"); err == nil {
		t.Error("a grant includes what no program knows")
	}
}
