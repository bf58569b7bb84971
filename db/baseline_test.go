package db_test

import (
	"context"
	"fmt"
	"io/fs"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"golang.org/x/sync/errgroup"

	"patchbay/db"
	"patchbay/internal/fault"
	"patchbay/internal/testing/pgtest"
)

const stampLine = "database stamped with the baseline, schema and data unchanged"

// atReplaced returns a database with the schema of the baseline, a tenant, and the version rows of a build before it.
func atReplaced(t *testing.T, versions []int64) (address string, owner *pgx.Conn) {
	t.Helper()
	address = pgtest.Empty(t)
	if err := db.MigrateFiles(t.Context(), address, baselineAlone(t), db.LockPatience, silent); err != nil {
		t.Fatal(err)
	}
	owner = connect(t, address)
	run(t, owner, "insert into tenants (id, slug, name) values ('00000000-0000-7000-8000-000000000001', 'a', 'A')", "delete from goose_db_version where version_id > 0")
	if _, err := owner.Exec(t.Context(), "insert into goose_db_version (version_id, is_applied) select n, true from unnest($1::bigint[]) n", versions); err != nil {
		t.Fatal(err)
	}
	return address, owner
}

// baselineAlone is the baseline without the migrations after it.
func baselineAlone(t *testing.T) fs.FS {
	t.Helper()
	const name = "00001_baseline.sql"
	return fstest.MapFS{name: withMigrations(t, nil)[name]}
}

func replacedWithout(n int64) []int64 {
	return slices.DeleteFunc(slices.Clone(db.Replaced), func(v int64) bool { return v == n })
}

func replacedUpTo(n int64) []int64 {
	return slices.DeleteFunc(slices.Clone(db.Replaced), func(v int64) bool { return v > n })
}

// databaseContents returns the schema and the rows of all tables but goose_db_version.
func databaseContents(t *testing.T, conn *pgx.Conn) string {
	t.Helper()
	rows, err := conn.Query(t.Context(), `
		select relname
		from pg_class
		where relnamespace = 'public'::regnamespace and relkind = 'r' and relname <> 'goose_db_version'
		order by 1`)
	if err != nil {
		t.Fatal(err)
	}
	tables, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil || len(tables) < 75 {
		t.Fatalf("%d tables are not all (%v)", len(tables), err)
	}
	all := dumpSchema(t, conn)
	for _, table := range tables {
		var text string
		if err := conn.QueryRow(t.Context(), fmt.Sprintf("select coalesce(string_agg(r::text, E'\n' order by r::text), '') from %s r", table)).Scan(&text); err != nil {
			t.Fatalf("%s: %v", table, err)
		}
		all += fmt.Sprintf("%s:\n%s\n", table, text)
	}
	return all
}

func versionRows(t *testing.T, conn *pgx.Conn) (all []int64) {
	t.Helper()
	if err := conn.QueryRow(t.Context(), "select array_agg(version_id order by id) from goose_db_version where is_applied").Scan(&all); err != nil {
		t.Fatal(err)
	}
	return all
}

func TestMigrate_EmptyDatabaseGetsTheBaseline(t *testing.T) {
	t.Parallel()
	address := pgtest.Empty(t)
	var log strings.Builder
	if err := db.Migrate(t.Context(), address, slog.New(slog.NewTextHandler(&log, nil))); err != nil {
		t.Fatal(err)
	}
	conn := connect(t, address)
	if got := versionRows(t, conn); !slices.Equal(got, append([]int64{0}, db.Versions()...)) || strings.Contains(log.String(), stampLine) {
		t.Errorf("versions %v; it logs %s", got, log.String())
	}
	var parts, turns int
	if err := conn.QueryRow(t.Context(), "select (select count(*) from audit_months), (select count(*) from clock_turn)").Scan(&parts, &turns); err != nil || parts != 1 || turns != 1 {
		t.Errorf("%d months, %d turns (%v)", parts, turns, err)
	}
}

func TestMigrate_StampsTheLastReplacedVersion(t *testing.T) {
	t.Parallel()
	address, owner := atReplaced(t, db.Replaced)
	before := databaseContents(t, owner)
	_, _, err := db.Current(t.Context(), owner)
	if !fault.Is(err, fault.Unavailable) || !strings.Contains(err.Error(), "version 89 of the schema from before the baseline, which is the same schema: run `patchbay migrate`") {
		t.Errorf("before it: %v", err)
	}
	if pooled := db.Migrated(t.Context(), owner); !fault.Is(pooled, fault.Unavailable) || pooled.Error() != err.Error() {
		t.Errorf("before it, through a pooler: %v", pooled)
	}
	for i, stamped := range []bool{true, false} {
		var log strings.Builder
		if err := db.MigrateFiles(t.Context(), address, baselineAlone(t), db.LockPatience, slog.New(slog.NewTextHandler(&log, nil))); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(log.String(), stampLine+`" database=`) != stamped || strings.Contains(log.String(), "was=89 version=1") != stamped {
			t.Errorf("run %d logs %s", i, log.String())
		}
		if got := versionRows(t, owner); !slices.Equal(got, []int64{0, 1}) {
			t.Errorf("run %d: versions %v", i, got)
		}
		if diff := cmp.Diff(before, databaseContents(t, owner)); diff != "" {
			t.Errorf("run %d changes the schema or its rows:\n%s", i, diff)
		}
	}
	if err := db.Migrate(t.Context(), address, silent); err != nil {
		t.Fatal(err)
	}
	if applied, wanted := current(t, address); applied != wanted {
		t.Errorf("applied %d, wanted %d", applied, wanted)
	}
}

func TestMigrate_AppliesLaterMigrationsAfterTheStamp(t *testing.T) {
	t.Parallel()
	address, owner := atReplaced(t, db.Replaced)
	if err := db.MigrateFiles(t.Context(), address, withMigrations(t, map[int64]string{99990: "create table later ()"}), db.LockPatience, silent); err != nil {
		t.Fatal(err)
	}
	if got, want := versionRows(t, owner), slices.Concat([]int64{0}, db.Versions(), []int64{99990}); !slices.Equal(got, want) {
		t.Errorf("versions %v", got)
	}
	run(t, owner, "select from later")
}

func TestMigrate_RefusesOtherReplacedVersions(t *testing.T) {
	t.Parallel()
	const todo = ", and this program only upgrades from version 89: run `patchbay migrate` of a build with version 89 (revision 271a87bb) first, or start with an empty database."
	for name, tc := range map[string]struct {
		versions []int64
		says     string
	}{
		"second":     {replacedUpTo(2), "has version 2 of the schema from before the baseline" + todo},
		"half":       {replacedUpTo(50), "has version 50 of the schema from before the baseline" + todo},
		"one before": {replacedUpTo(88), "has version 88 of the schema from before the baseline" + todo},
		"with a gap": {replacedWithout(50), "has version 89 without 50 of the schema from before the baseline" + todo},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			address, owner := atReplaced(t, tc.versions)
			before := databaseContents(t, owner)
			var log strings.Builder
			for _, err := range []error{
				db.Migrate(t.Context(), address, slog.New(slog.NewTextHandler(&log, nil))),
				db.Migrated(t.Context(), owner),
			} {
				if !fault.Is(err, fault.Unavailable) || !strings.HasSuffix(err.Error(), tc.says) {
					t.Errorf("%v", err)
				}
			}
			if got := versionRows(t, owner); !slices.Equal(got, tc.versions) && !slices.Equal(got, append([]int64{0}, tc.versions...)) || log.Len() > 0 {
				t.Errorf("versions %v; it logs %s", got, log.String())
			}
			if diff := cmp.Diff(before, databaseContents(t, owner)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A build before the baseline that ended early left neither the job queue's tables nor rights.
func TestMigrate_RefusesReplacedVersionsThatEndedEarly(t *testing.T) {
	t.Parallel()
	for name, files := range map[string]fstest.MapFS{
		"at version 1": {"00001_tenants.sql": &fstest.MapFile{Data: []byte("-- +goose Up\ncreate table tenants (id uuid);\n")}},
		"at version 2": {
			"00001_tenants.sql":    &fstest.MapFile{Data: []byte("-- +goose Up\ncreate table tenants (id uuid);\n")},
			"00002_connectors.sql": &fstest.MapFile{Data: []byte("-- +goose Up\ncreate table connectors (id uuid);\n")},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			address := pgtest.Empty(t)
			applyAll(t, address, files)
			err := db.Migrate(t.Context(), address, silent)
			if want := strings.TrimPrefix(name, "at "); !fault.Is(err, fault.Unavailable) || !strings.Contains(err.Error(), "has "+want+" of the schema from before the baseline") {
				t.Errorf("migrate: %v", err)
			}
			run(t, connect(t, address), "select from tenants")
		})
	}
}

// applyAll applies migrations by goose alone.
func applyAll(t *testing.T, address string, files fs.FS) *goose.Provider {
	t.Helper()
	config, err := pgx.ParseConfig(address)
	if err != nil {
		t.Fatal(err)
	}
	owner := stdlib.OpenDB(*config)
	t.Cleanup(func() { _ = owner.Close() })
	provider, err := goose.NewProvider(goose.DialectPostgres, owner, files)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := provider.Up(t.Context()); err != nil {
		t.Fatal(err)
	}
	return provider
}

func TestMigrate_ReplicasStampOnce(t *testing.T) {
	t.Parallel()
	address, owner := atReplaced(t, db.Replaced)
	before := databaseContents(t, owner)
	var mu sync.Mutex
	var lines strings.Builder
	log := slog.New(slog.NewTextHandler(lockedWriter{&mu, &lines}, nil))
	var replicas errgroup.Group
	for range 5 {
		replicas.Go(func() error { return db.MigrateFiles(t.Context(), address, baselineAlone(t), db.LockPatience, log) })
	}
	if err := replicas.Wait(); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(lines.String(), stampLine); n != 1 {
		t.Errorf("stamped %d times:\n%s", n, lines.String())
	}
	if got := versionRows(t, owner); !slices.Equal(got, []int64{0, 1}) {
		t.Errorf("versions %v", got)
	}
	if diff := cmp.Diff(before, databaseContents(t, owner)); diff != "" {
		t.Error(diff)
	}
}

type lockedWriter struct {
	mu *sync.Mutex
	b  *strings.Builder
}

func (w lockedWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.b.Write(p)
}

func TestMigrate_RuntimeRoleDoesNotStamp(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		versions []int64
		kind     fault.Kind
		says     string
	}{
		"last":  {db.Replaced, fault.Denied, "run `patchbay migrate` with a DATABASE_URL of that role"},
		"older": {replacedUpTo(50), fault.Unavailable, "start with an empty database"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			address, owner := atReplaced(t, tc.versions)
			role, asRole := loginRole(t, owner, address)
			run(t, owner, "grant "+db.AppRole+" to "+role, "grant create on schema public to "+role)
			if err := db.Migrate(t.Context(), asRole, silent); !fault.Is(err, tc.kind) || !strings.Contains(err.Error(), tc.says) {
				t.Errorf("migrate: %v", err)
			}
		})
	}
}

func TestBaseline_DownLeavesNothing(t *testing.T) {
	t.Parallel()
	pgtest.URL(t) // creates the server's runtime role
	address := pgtest.Empty(t)
	provider := applyAll(t, address, db.Migrations())
	if _, err := provider.DownTo(context.WithoutCancel(t.Context()), 0); err != nil {
		t.Fatal(err)
	}
	var left []string
	err := connect(t, address).QueryRow(t.Context(), `
		select coalesce(array_agg(name), '{}')
		from (
			select relname::text as name from pg_class where relnamespace = 'public'::regnamespace and relname not like 'goose%'
			union all
			select proname from pg_proc where pronamespace = 'public'::regnamespace
			union all
			select typname from pg_type where typnamespace = 'public'::regnamespace and typname not like '%goose%'
		) objects`).Scan(&left)
	if err != nil || len(left) > 0 {
		t.Errorf("%v are left (%v)", left, err)
	}
}

func TestMigrationNumbers_FollowTheReplacedOnes(t *testing.T) {
	t.Parallel()
	if err := db.CheckNumbers(db.Versions()); err != nil {
		t.Error(err)
	}
	for name, refused := range map[string][]int64{
		"nothing": nil, "no baseline": {90}, "a used number": {1, 2}, "the last used number": {1, 89}, "a number twice": {1, 90, 90},
	} {
		if db.CheckNumbers(refused) == nil {
			t.Errorf("%s: %v is accepted", name, refused)
		}
	}
	if err := db.CheckNumbers([]int64{1, 90, 92}); err != nil {
		t.Error(err)
	}
}
