package db_test

import (
	"context"
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"patchbay/db"
	"patchbay/internal/fault"
	"patchbay/internal/testing/pgtest"
)

// withMigrations returns the embedded migrations and others, by number.
func withMigrations(t *testing.T, others map[int64]string) fstest.MapFS {
	t.Helper()
	all := fstest.MapFS{}
	names, err := fs.Glob(db.Migrations(), "*.sql")
	if err != nil || len(names) == 0 {
		t.Fatalf("%d migrations (%v)", len(names), err)
	}
	for _, name := range names {
		text, err := fs.ReadFile(db.Migrations(), name)
		if err != nil {
			t.Fatal(err)
		}
		all[name] = &fstest.MapFile{Data: text}
	}
	for number, sql := range others {
		all[fmt.Sprintf("%05d_test.sql", number)] = &fstest.MapFile{Data: []byte("-- +goose Up\n" + sql + ";\n")}
	}
	return all
}

// kept returns a database that lacks a migration, the migrations with it, and a function that ends a transaction which
// reads the table that it changes.
func kept(t *testing.T) (address string, migrations fs.FS, release func()) {
	t.Helper()
	address = pgtest.URL(t)
	migrations = withMigrations(t, map[int64]string{99990: "alter table sign_in_failures add column noted_at timestamptz"})
	tx, err := connect(t, address).Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(t.Context(), "select from sign_in_failures"); err != nil {
		t.Fatal(err)
	}
	return address, migrations, func() {
		if err := tx.Rollback(t.Context()); err != nil {
			t.Error(err)
		}
	}
}

// untilItWaits returns when a session of the database waits for a table's lock that it wants for itself.
func untilItWaits(t *testing.T, conn *pgx.Conn) {
	t.Helper()
	until(t, conn, "select exists (select from pg_locks where relation = 'sign_in_failures'::regclass and mode = 'AccessExclusiveLock' and not granted)")
}

// until asks the database again and again, and returns when it says yes.
func until(t *testing.T, conn *pgx.Conn, question string) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		var yes bool
		if err := conn.QueryRow(t.Context(), question).Scan(&yes); err != nil {
			t.Fatal(err)
		}
		if yes {
			return
		}
		select {
		case <-tick.C:
		case <-t.Context().Done():
			t.Fatal(t.Context().Err())
		}
	}
}

// Who reads or writes the table meanwhile stands behind the migration for a moment, and not for as long as somebody else keeps it.
func TestAMigrationThatWaitsForATableLetsOthersUseIt(t *testing.T) {
	t.Parallel()
	address, migrations, release := kept(t)
	migrated := make(chan error, 1)
	go func() { migrated <- db.MigrateFiles(t.Context(), address, migrations, db.LockPatience, silent) }()
	watcher, traffic := connect(t, address), connect(t, address)
	for range 2 {
		untilItWaits(t, watcher)
		run(t, traffic, "select from sign_in_failures", "insert into sign_in_failures (account, address) values ('a@example.com', '192.0.2.1')")
	}
	select {
	case err := <-migrated:
		t.Fatalf("it has ended: %v", err)
	default:
	}
	release()
	if err := <-migrated; err != nil {
		t.Fatal(err)
	}
	run(t, traffic, "select noted_at from sign_in_failures")
	if applied, _ := current(t, address); applied != 99990 {
		t.Errorf("applied %d", applied)
	}
}

func TestAMigrationThatWaitsInVainSaysWhatToDoAndChangesNothing(t *testing.T) {
	t.Parallel()
	address, migrations, release := kept(t)
	err := db.MigrateFiles(t.Context(), address, migrations, time.Millisecond, silent)
	if !fault.Is(err, fault.Unavailable) || !strings.Contains(fault.As(err).Message, "another transaction has locked a table") || !strings.Contains(fault.As(err).Message, "pg_stat_activity") {
		t.Errorf("%v", err)
	}
	var there bool
	err = connect(t, address).QueryRow(t.Context(), `
		select exists (select from pg_attribute where attrelid = 'sign_in_failures'::regclass and attname = 'noted_at')
		    or exists (select from goose_db_version where version_id = 99990)`).Scan(&there)
	if err != nil || there {
		t.Errorf("half of it is done (%v)", err)
	}
	release()
	if err := db.MigrateFiles(t.Context(), address, migrations, db.LockPatience, silent); err != nil {
		t.Error(err)
	}
}

func TestAMigrationThatWaitsEndsWithItsContext(t *testing.T) {
	t.Parallel()
	address, migrations, release := kept(t)
	defer release()
	ctx, end := context.WithCancel(t.Context())
	migrated := make(chan error, 1)
	go func() { migrated <- db.MigrateFiles(ctx, address, migrations, db.LockPatience, silent) }()
	untilItWaits(t, connect(t, address))
	end()
	if err := <-migrated; err == nil || fault.Is(err, fault.Unavailable) && strings.Contains(fault.As(err).Message, "another transaction") {
		t.Errorf("%v", err)
	}
}

// Another process that migrates may take long: it is waited for.
func TestReplicasWaitForTheOneThatMigratesAsLongAsItTakes(t *testing.T) {
	t.Parallel()
	address, migrations, release := kept(t)
	first, second := make(chan error, 1), make(chan error, 1)
	go func() { first <- db.MigrateFiles(t.Context(), address, migrations, db.LockPatience, silent) }()
	watcher := connect(t, address)
	untilItWaits(t, watcher)
	go func() { second <- db.MigrateFiles(t.Context(), address, migrations, time.Millisecond, silent) }()
	until(t, watcher, "select exists (select from pg_locks where locktype = 'advisory' and not granted and database = (select oid from pg_database where datname = current_database()))")
	untilItWaits(t, watcher)
	release()
	if a, b := <-first, <-second; a != nil || b != nil {
		t.Errorf("%v, %v", a, b)
	}
}

// turns are attempts at migrations, each of which takes a while and then ends in its way, and what is left to do then.
type turns []struct {
	takes time.Duration
	left  int
	ends  error
}

func (all turns) take(t *testing.T) (done int, err error) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		left := func() int { return all[done-1].left }
		err = db.TakingTurns(t.Context(), 3*time.Minute, silent, left, func() error {
			one := all[done]
			done++
			time.Sleep(one.takes) // of the bubble: it takes no time
			return one.ends
		})
	})
	return done, err
}

func TestPatienceWithATableBeginsWhereAMigrationFirstWaitsForIt(t *testing.T) {
	t.Parallel()
	kept := &pgconn.PgError{Code: "55P03"}
	const short, long = time.Second, time.Hour
	for name, c := range map[string]struct {
		turns turns
		done  int
		vain  bool
	}{
		"those before it took long":         {turns{{long, 5, kept}, {short, 0, nil}}, 2, false},
		"others go through in between":      {turns{{short, 5, kept}, {long, 3, kept}, {long, 2, kept}, {short, 0, nil}}, 4, false},
		"another table deadlocks meanwhile": {turns{{short, 5, kept}, {short, 5, &pgconn.PgError{Code: "40P01"}}, {short, 0, nil}}, 3, false},
		"none goes through":                 {turns{{long, 5, kept}, {short, 5, kept}, {long, 5, kept}, {short, 0, nil}}, 3, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			done, err := c.turns.take(t)
			if done != c.done || c.vain != fault.Is(err, fault.Unavailable) || !c.vain && err != nil {
				t.Errorf("%d turns, %v", done, err)
			}
		})
	}
}
