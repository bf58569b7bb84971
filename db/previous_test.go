package db_test

import (
	"context"
	_ "embed"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"

	"patchbay/db"
	"patchbay/internal/testing/pgtest"
)

// While servers are upgraded one after the other, those of the release before work on today's schema. What they say and which schema they
// were made for stands in testdata/previous; scripts/previous-release writes it.
var (
	//go:embed testdata/previous/statements.sql
	previousStatements string
	//go:embed testdata/previous/release.txt
	previousRelease string
)

// beside is why the release before bears the role auditor.
const beside = "takes one role more, auditor, which the release before does not give, and which it lets do nothing: it compares roles with those it knows"

// parts is why the release before bears an audit log of several parts: it adds and reads by the table's name, whose columns and key are the same.
const parts = "says the same of a row of the table that has parts now"

// noted is why it bears triggers on the history of calls.
const noted = "notes how calls ended, whoever ends them; what the release before writes and reads is as it was"

// issued is why it bears accounts that tenants issue, which it does not know. Until all servers are new, it shows their keys in place of their
// addresses, does not sign them in, and refuses to add members.
const issued = "is for accounts that tenants issue; the release before reads all accounts as it did, and adds none meanwhile"

// borne are the changes to what was there already that the release before bears, each with the reason. Tables, columns that may be left out
// and functions are added without one.
var borne = map[string]string{
	"constraint agent_tokens.agent_tokens_agent_client_fkey": "the release before makes no tokens of programs that sign in, and its own have none",
	"constraint agent_tokens.agent_tokens_of_a_client_bound": "likewise",
	"function refuse_retired_key":                            "refuses a tenant's retired keys, too; the release before seals with the installation's alone",
	"trigger retired_keys.wraps_nothing": "keeps the release before from retiring a key that seals tenants' keys, of which it knows nothing; " +
		"there are none before the newer program's rotation, which waits until no older one runs",
	"trigger keysets.both_copies_are_one":                "keeps the release before from rotating keys of which there is a second copy, in the midst of a move to another PATCHBAY_KEYSET",
	"constraint memberships.memberships_role_known":      beside,
	"constraint api_keys.api_keys_role_known":            beside,
	"constraint invitations.invitations_role_known":      beside,
	"function audit_append":                              parts + ", which may be any of its parts",
	"function audit_link":                                parts,
	"function audit_hash":                                parts,
	"index audit_events.audit_events_pkey":               "is one of each part; the key is the same",
	"constraint tenants.tenants_body_readers_known":      "holds a column that has a default, and that the release before does not write",
	"constraint tenants.tenants_quota_range":             "holds columns that have defaults, and that the release before does not write",
	"constraint tools.tools_quota_range":                 "the same",
	"constraint keysets.keysets_version_positive":        "of a column with a default, which the release before leaves out",
	"trigger api_keys.recognised_by_a_living_key":        "refuses what nobody would recognise, of a process that slept through a rotation",
	"trigger agent_tokens.recognised_by_a_living_key":    "the same",
	"trigger tenants.begin_outcomes":                     "begins a new tenant's chain of outcomes, whoever made the tenant",
	"trigger tool_calls.note_calls":                      noted,
	"trigger tool_calls.note_changed_calls":              noted,
	"trigger tool_calls.note_removed_calls":              noted,
	"constraint users.users_email_form":                  "says the same of a person's own account",
	"constraint users.users_email_key_form":              issued,
	"constraint users.users_issued_by_fkey":              issued,
	"trigger memberships.one_address_once":               issued,
	"policy users.member_reads":                          issued,
	"policy users.issuer_adds":                           issued,
	"policy users.issuer_changes":                        issued,
	"policy users.issuer_removes":                        issued,
	"row security users":                                 issued,
	"trigger users.store_password_hash":                  "stores the passwords that the release before writes where today's reads them",
	"trigger instances.show_password_hashes":             "gives the release before the passwords where it reads them, at each beat",
	"trigger instances.hide_password_hashes":             "takes these away when no server of the release before runs any more",
	"trigger credentials.queue_revocation":               "keeps what is deleted for the newer program's job; the release before deletes as it did",
	"trigger credentials.queue_revocation_of_replaced":   "the same of what is replaced; the release before revokes that at once, which a second time changes nothing",
	"trigger connectors.delete_credentials_of_connector": "deletes with a connector what the foreign key deleted a moment later",
}

// TestTheStatementsOfTheReleaseBeforeRunOnTodaysSchema has PostgreSQL read and plan each as the runtime role, which shows what is gone and what may not be
// touched, and compares the types that go in and come out with those of the schema that it was written for.
func TestTheStatementsOfTheReleaseBeforeRunOnTodaysSchema(t *testing.T) {
	t.Parallel()
	then := previousDatabase(t)
	today, err := pgtest.Pool(t).Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer today.Release()
	statements := strings.Split(previousStatements, "\n-- name: ")[1:]
	if len(statements) < 300 {
		t.Errorf("%d statements are not all", len(statements))
	}
	for _, statement := range statements {
		name, _, _ := strings.Cut(statement, " ")
		statement = "-- name: " + statement
		want, err := then.Prepare(t.Context(), "", statement)
		if err != nil {
			t.Errorf("%s does not run on the schema of its own release: %v", name, err)
			continue
		}
		got, err := today.Conn().Prepare(t.Context(), "", statement)
		if err != nil {
			t.Errorf("%s does not run any more: %v", name, err)
			continue
		}
		if diff := cmp.Diff(want.ParamOIDs, got.ParamOIDs); diff != "" {
			t.Errorf("%s takes other types, by their oids (-then +today):\n%s", name, diff)
		}
		if diff := cmp.Diff(columnTypes(want.Fields), columnTypes(got.Fields)); diff != "" {
			t.Errorf("%s answers other types, by their oids (-then +today):\n%s", name, diff)
		}
		// Rights are looked at when a statement begins, and explaining it begins it.
		_, err = today.Conn().PgConn().ExecParams(t.Context(), "explain "+statement, make([][]byte, len(got.ParamOIDs)), nil, nil, nil).Close()
		if err != nil {
			t.Errorf("%s may not run any more: %v", name, err)
		}
	}
}

func columnTypes(fields []pgconn.FieldDescription) (oids []uint32) {
	for _, f := range fields {
		oids = append(oids, f.DataTypeOID)
	}
	return oids
}

// TestSchema_KeepsWhatThePreviousReleaseUses finds what a statement meets only when it runs: a new column that has to be given, a
// constraint, trigger or policy on what the release before writes, a null where it expects none.
func TestSchema_KeepsWhatThePreviousReleaseUses(t *testing.T) {
	t.Parallel()
	then, today := rules(t, previousDatabase(t)), rules(t, connect(t, pgtest.URL(t)))
	found := map[string]string{}
	for name, rule := range today {
		old, was := then[name]
		switch {
		case was && old.text != rule.text:
			found[name] = "was:   " + old.text + "\n  is:    " + rule.text
		case was, !then.has(rule.table), rule.harmless:
		default:
			found[name] = "is new: " + rule.text
		}
	}
	for name, rule := range then {
		if _, is := today[name]; !is {
			found[name] = "is gone: " + rule.text
		}
	}
	for _, name := range slices.Sorted(maps.Keys(found)) {
		if borne[name] == "" {
			t.Errorf("%s\n  %s\n  Servers of the release before run on this schema while they are upgraded. Where that works, say in borne why.", name, found[name])
		}
	}
	for name := range borne {
		if found[name] == "" {
			t.Errorf("%s has a reason, and is as it was", name)
		}
	}
}

// previousDatabase has the migrations of the release before.
func previousDatabase(t *testing.T) *pgx.Conn {
	t.Helper()
	pgtest.URL(t) // the runtime role belongs to the server: let it be there
	conn := connect(t, pgtest.Empty(t))
	migrations := fstest.MapFS{}
	for _, name := range strings.Fields(previousRelease)[1:] {
		text, err := fs.ReadFile(db.Migrations(), name)
		if err != nil {
			t.Fatalf("a migration of the release before is gone: %v", err)
		}
		migrations[name] = &fstest.MapFile{Data: text}
	}
	sqlDB := stdlib.OpenDB(*conn.Config())
	defer sqlDB.Close()
	provider, err := goose.NewProvider(goose.DialectPostgres, sqlDB, migrations)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := provider.Up(context.WithoutCancel(t.Context())); err != nil {
		t.Fatal(err)
	}
	return conn
}

// rule is what the database asks of whoever writes a table, or promises to whoever reads it.
type rule struct {
	table    string // empty: a function
	text     string
	harmless bool // for those who know nothing of it
}

type rulebook map[string]rule

func (b rulebook) has(table string) bool {
	_, ok := b["table "+table]
	return ok
}

func rules(t *testing.T, conn *pgx.Conn) rulebook {
	t.Helper()
	rows, err := conn.Query(t.Context(), rulesQuery)
	if err != nil {
		t.Fatal(err)
	}
	book := rulebook{}
	var kind, name string
	var r rule
	if _, err := pgx.ForEachRow(rows, []any{&kind, &r.table, &name, &r.text, &r.harmless}, func() error {
		key := fmt.Sprintf("%s %s", kind, strings.Trim(r.table+"."+name, "."))
		if _, twice := book[key]; twice {
			return fmt.Errorf("two of the name %s", key)
		}
		book[key] = r
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return book
}

const rulesQuery = `
	with ours as (select oid, relname::text from pg_class where relkind in ('r', 'p') and ` + ours + `)
	select 'table', relname, '', '', true
	from ours
	union all
	select 'column', relname, attname,
	       concat_ws(' ', format_type(atttypid, atttypmod), case when attnotnull then 'not null' end,
	           case when attidentity <> '' then 'identity' when attgenerated <> '' then 'generated' when adbin is not null then 'default ' || pg_get_expr(adbin, adrelid) end),
	       not attnotnull or attidentity <> '' or adbin is not null
	from ours
	join pg_attribute on attrelid = ours.oid and attnum > 0 and not attisdropped
	left join pg_attrdef on adrelid = attrelid and adnum = attnum
	union all
	select 'constraint', relname, conname, pg_get_constraintdef(pg_constraint.oid), false
	from ours join pg_constraint on conrelid = ours.oid and contype <> 'n'
	union all
	select 'index', relname, indexrelid::regclass::text, pg_get_indexdef(indexrelid), false
	from ours join pg_index on indrelid = ours.oid and indisunique
	union all
	select 'trigger', relname, tgname, pg_get_triggerdef(pg_trigger.oid), false
	from ours join pg_trigger on tgrelid = ours.oid and not tgisinternal
	union all
	select 'policy', relname, polname, concat_ws(' ', polcmd, polpermissive, pg_get_expr(polqual, polrelid), 'check', pg_get_expr(polwithcheck, polrelid)), false
	from ours join pg_policy on polrelid = ours.oid
	union all
	select 'row security', ours.relname, '', format('%s %s', relrowsecurity, relforcerowsecurity), false
	from ours join pg_class c on c.oid = ours.oid
	union all
	select 'function', '', proname, pg_get_functiondef(oid), true
	from pg_proc
	where pronamespace = 'public'::regnamespace and prokind = 'f' and proname not like 'river\_%'`
