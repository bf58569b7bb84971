package db_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"golang.org/x/sync/errgroup"

	"patchbay/db"
	"patchbay/internal/fault"
	"patchbay/internal/testing/pgtest"
)

var silent = slog.New(slog.DiscardHandler)

func connect(t *testing.T, address string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return conn
}

func run(t *testing.T, conn *pgx.Conn, statements ...string) {
	t.Helper()
	for _, statement := range statements {
		if _, err := conn.Exec(t.Context(), statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
}

// loginRole makes a role with nothing but a login, and returns the database's address as it.
func loginRole(t *testing.T, admin *pgx.Conn, address string) (name, asRole string) {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	name = "login_" + strings.TrimPrefix(u.Path, "/")
	run(t, admin, fmt.Sprintf("create role %s login password 'test'", name))
	u.User = url.UserPassword(name, "test")
	return name, u.String()
}

func current(t *testing.T, address string) (applied, wanted int64) {
	t.Helper()
	applied, wanted, err := db.Current(t.Context(), connect(t, address))
	if err != nil {
		t.Fatal(err)
	}
	return applied, wanted
}

func TestMigrateBringsAnEmptyDatabaseToTheNewestVersion(t *testing.T) {
	t.Parallel()
	address := pgtest.Empty(t)
	if applied, _ := current(t, address); applied != 0 {
		t.Errorf("an empty database has version %d", applied)
	}
	for range 2 { // the second time changes nothing
		if err := db.Migrate(t.Context(), address, silent); err != nil {
			t.Fatal(err)
		}
		applied, wanted := current(t, address)
		if applied != wanted || wanted != db.Version() {
			t.Errorf("applied %d, wanted %d, newest %d", applied, wanted, db.Version())
		}
	}
}

func TestReplicasMigrateAtTheSameTime(t *testing.T) {
	t.Parallel()
	address := pgtest.Empty(t)
	var replicas errgroup.Group
	for range 5 {
		replicas.Go(func() error { return db.Migrate(t.Context(), address, silent) })
	}
	if err := replicas.Wait(); err != nil {
		t.Fatal(err)
	}
	if applied, wanted := current(t, address); applied != wanted {
		t.Errorf("applied %d, wanted %d", applied, wanted)
	}
}

func TestMigrateSaysWhatItsRoleNeedsAndThatIsEnough(t *testing.T) {
	t.Parallel()
	pgtest.URL(t) // the runtime role belongs to the server: let it be there
	address := pgtest.Empty(t)
	admin := connect(t, address)
	role, asRole := loginRole(t, admin, address)

	err := db.Migrate(t.Context(), asRole, silent)
	if !fault.Is(err, fault.Denied) {
		t.Fatalf("migrate without rights: %v", err)
	}
	said := regexp.MustCompile(`run there: (.*); then run`).FindStringSubmatch(err.Error())
	if said == nil {
		t.Fatalf("no statements in %q", err)
	}
	run(t, admin, strings.Split(said[1], "; ")...)
	if err := db.Migrate(t.Context(), asRole, silent); err != nil {
		t.Fatalf("migrate with them: %v", err)
	}
	var owner string
	if err := admin.QueryRow(t.Context(), `select tableowner from pg_tables where tablename = 'tenants'`).Scan(&owner); err != nil {
		t.Fatal(err)
	}
	if owner != role {
		t.Errorf("the tables belong to %s", owner)
	}
	pool := pgtest.Open(t, asRole, db.PoolOptions{})
	var worksAs string
	if err := pool.QueryRow(t.Context(), `select current_user`).Scan(&worksAs); err != nil || worksAs != db.AppRole {
		t.Errorf("works as %q, %v", worksAs, err)
	}
}

func TestServersRoleNeedsNoRightsOnACurrentDatabase(t *testing.T) {
	t.Parallel()
	address := pgtest.URL(t)
	admin := connect(t, address)
	role, asRole := loginRole(t, admin, address)
	run(t, admin, "grant "+db.AppRole+" to "+role)
	if err := db.Migrate(t.Context(), asRole, silent); err != nil {
		t.Errorf("migrate: %v", err)
	}
}

func TestOlderDatabaseOfAnotherOwnerIsNamed(t *testing.T) {
	t.Parallel()
	address := pgtest.URL(t)
	admin := connect(t, address)
	role, asRole := loginRole(t, admin, address)
	run(t, admin, "grant "+db.AppRole+" to "+role, "grant create on schema public to "+role,
		fmt.Sprintf("delete from goose_db_version where version_id = %d", db.Version()))
	err := db.Migrate(t.Context(), asRole, silent)
	if !fault.Is(err, fault.Denied) || !strings.Contains(err.Error(), "run `patchbay migrate` with a DATABASE_URL of that role") {
		t.Errorf("migrate: %v", err)
	}
}

func TestNewerDatabaseIsRefused(t *testing.T) {
	t.Parallel()
	address := pgtest.URL(t)
	run(t, connect(t, address), "insert into goose_db_version (version_id, is_applied) values (99999, true)")
	err := db.Migrate(t.Context(), address, silent)
	if !fault.Is(err, fault.Unavailable) || !strings.Contains(err.Error(), "start the newer Patchbay") {
		t.Errorf("migrate: %v", err)
	}
	if applied, wanted := current(t, address); applied != 99999 || wanted != db.Version() {
		t.Errorf("applied %d, wanted %d", applied, wanted)
	}
}

func TestRoleThatBypassesRowSecurityIsRefused(t *testing.T) {
	// Not parallel: the role belongs to the whole server.
	address := pgtest.URL(t)
	admin := connect(t, address)
	run(t, admin, "alter role "+db.AppRole+" bypassrls")
	err := db.Migrate(t.Context(), address, silent)
	run(t, admin, "alter role "+db.AppRole+" nobypassrls")
	if !fault.Is(err, fault.Unavailable) || !strings.Contains(err.Error(), "nobypassrls") {
		t.Errorf("migrate: %v", err)
	}
}

func TestRuntimeRoleMayOnlyWhatTheProgramDoes(t *testing.T) {
	t.Parallel()
	pool := pgtest.Pool(t)
	for statement, code := range map[string]string{
		"create table mine ()":                           "42501",
		"drop table tenants":                             "42501",
		"alter table tenants disable row level security": "42501",
		"truncate audit_events":                          "42501",
		"update audit_events set action = 'x'":           "42501",
		"delete from goose_db_version":                   "42501",
		"insert into tenants (id, slug, name) values ('00000000-0000-7000-8000-000000000001', 'a', 'A')":              "42501", // no scope is set
		"insert into river_job (kind, max_attempts, args, queue, priority) values ('sync_tools', 1, '{}', 'sync', 1)": "",
		"select pg_notify('river_insert', '')": "",
	} {
		_, err := pool.Exec(t.Context(), statement)
		got := ""
		if e, ok := errors.AsType[*pgconn.PgError](err); ok {
			got = e.Code
		}
		if got != code {
			t.Errorf("%s: %v; want SQLSTATE %q", statement, err, code)
		}
	}
}

// withoutRowSecurity are the tables that hold nothing of a tenant or a person, each with what it holds.
var withoutRowSecurity = map[string]string{
	"goose_db_version":   "which migrations ran",
	"audit_months":       "which months the audit log has parts for",
	"clock_turn":         "which process runs the clock",
	"instances":          "which processes live",
	"river_job":          "jobs, whose arguments are ids",
	"river_leader":       "which process leads the queue",
	"river_migration":    "which migrations of the queue ran",
	"river_notification": "messages between processes of the queue",
	"river_queue":        "the queues",
}

// TestEveryTableHasRowSecurity is the fourth lock, held for tables that do not exist yet.
func TestEveryTableHasRowSecurity(t *testing.T) {
	t.Parallel()
	conn := connect(t, pgtest.URL(t))
	rows, err := conn.Query(t.Context(), `
		select c.relname, c.relrowsecurity and c.relforcerowsecurity and exists (select from pg_policy p where p.polrelid = c.oid)
		from pg_class c
		where c.relkind in ('r', 'p') and c.relnamespace = 'public'::regnamespace
		order by 1`)
	if err != nil {
		t.Fatal(err)
	}
	type table struct {
		Name   string
		Locked bool
	}
	tables, err := pgx.CollectRows(rows, pgx.RowToStructByPos[table])
	if err != nil {
		t.Fatal(err)
	}
	if len(tables) < 75 {
		t.Errorf("%d tables are not all", len(tables))
	}
	for _, table := range tables {
		if _, exempt := withoutRowSecurity[table.Name]; table.Locked == exempt {
			t.Errorf("%s has forced row-level security: %v; has a reason to have none: %v", table.Name, table.Locked, exempt)
		}
	}
}
