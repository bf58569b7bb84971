package db_test

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"patchbay/internal/testing/pgtest"
)

const schemaHead = `-- The schema as the migrations leave it, for reviews: what changes here changes in the database.
-- Not run by anything. Written from a migrated database: UPDATE=1 go test ./db -run TestSchema
`

// The dump is made from the catalogue and not by pg_dump, whose text differs between PostgreSQL's versions.
func TestSchemaFileIsWhatTheMigrationsMake(t *testing.T) {
	t.Parallel()
	conn, err := pgx.Connect(t.Context(), pgtest.URL(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(t.Context()) })

	dump := schemaHead + dumpSchema(t, conn)
	if os.Getenv("UPDATE") != "" {
		if err := os.WriteFile("schema.sql", []byte(dump), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	file, err := os.ReadFile("schema.sql")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(file), dump); diff != "" {
		t.Errorf("db/schema.sql is not what the migrations make; run UPDATE=1 go test ./db -run TestSchema (-file +database):\n%s", diff)
	}
}

// dumpSchema returns the functions and tables of a database as SQL.
func dumpSchema(t *testing.T, conn *pgx.Conn) string {
	t.Helper()
	var dump strings.Builder
	for _, query := range []string{functionsQuery, tablesQuery} {
		rows, err := conn.Query(t.Context(), query)
		if err != nil {
			t.Fatal(err)
		}
		parts, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range parts {
			dump.WriteString("\n" + strings.TrimSpace(part) + "\n")
		}
	}
	return dump.String()
}

// ours are the relations that our migrations make: the queue's and the migrator's own are theirs.
const ours = `relnamespace = 'public'::regnamespace and relname not like 'river\_%' and relname not like 'goose\_%'`

const functionsQuery = `
	select pg_get_functiondef(oid)
	from pg_proc
	where pronamespace = 'public'::regnamespace and prokind = 'f' and proname not like 'river\_%'
	order by proname collate "C"`

// One text a table: columns, constraints, indexes, triggers, policies, and what the runtime role may do. PostgreSQL 18 counts "not null"
// among the constraints; here it stands at its column.
const tablesQuery = `
	select format(E'create table %I (\n%s\n)%s;%s%s%s%s%s',
		relname,
		(select string_agg(line, E',\n' order by kind, place) from (
			select 1 as kind, lpad(attnum::text, 5, '0') as place, format('    %I %s%s%s', attname, format_type(atttypid, atttypmod),
				case when attnotnull then ' not null' else '' end,
				case
				when attidentity <> '' then ' generated always as identity'
				when attgenerated <> '' then ' generated always as (' || pg_get_expr(adbin, adrelid) || ') stored'
				when adbin is not null then ' default ' || pg_get_expr(adbin, adrelid)
				else '' end) as line
			from pg_attribute left join pg_attrdef on adrelid = attrelid and adnum = attnum
			where attrelid = pg_class.oid and attnum > 0 and not attisdropped
			union all
			select 2, conname collate "C", format('    constraint %I %s', conname, pg_get_constraintdef(oid))
			from pg_constraint where conrelid = pg_class.oid and contype <> 'n'
		) lines),
		coalesce(' with (' || array_to_string(reloptions, ', ') || ')', ''),
		coalesce((select string_agg(E'\n' || pg_get_indexdef(indexrelid) || ';', '' order by indexrelid::regclass::text collate "C")
			from pg_index where indrelid = pg_class.oid and not exists (select from pg_constraint where conindid = indexrelid and contype in ('p', 'u', 'x'))), ''),
		coalesce((select string_agg(E'\n' || pg_get_triggerdef(oid) || ';', '' order by tgname)
			from pg_trigger where tgrelid = pg_class.oid and not tgisinternal), ''),
		case when relrowsecurity then format(E'\nalter table %I enable row level security;', relname) else '' end
			|| case when relforcerowsecurity then format(E'\nalter table %I force row level security;', relname) else '' end,
		coalesce((select string_agg(format(E'\ncreate policy %I on %I for %s using (%s) with check (%s);', polname, relname,
				case polcmd when '*' then 'all' else polcmd::text end, pg_get_expr(polqual, polrelid), pg_get_expr(polwithcheck, polrelid)), '' order by polname)
			from pg_policy where polrelid = pg_class.oid), ''),
		coalesce((select format(E'\ngrant %s on %I to patchbay_app;', string_agg(lower(privilege_type), ', ' order by privilege_type collate "C"), relname)
			from aclexplode(relacl) where grantee = 'patchbay_app'::regrole), ''))
	from pg_class
	where relkind in ('r', 'p') and ` + ours + `
	order by relname collate "C"`
