package db_test

import (
	"log/slog"
	"slices"
	"strings"
	"testing"

	"patchbay/db"
	"patchbay/internal/testing/pgtest"
)

// As where a program between two releases had a later migration already, and not this one.
func TestAMigrationThatIsOlderThanTheNewestAndLackingIsApplied(t *testing.T) {
	t.Parallel()
	address := pgtest.URL(t)
	earlier, later := "create table earlier ()", "create table later ()"
	if err := db.MigrateFiles(t.Context(), address, withMigrations(t, map[int64]string{99991: later}), db.LockPatience, silent); err != nil {
		t.Fatal(err)
	}
	var log strings.Builder
	both := withMigrations(t, map[int64]string{99990: earlier, 99991: later})
	if err := db.MigrateFiles(t.Context(), address, both, db.LockPatience, slog.New(slog.NewTextHandler(&log, nil))); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(log.String(), "level=WARN") || !strings.Contains(log.String(), "version=99990") {
		t.Errorf("it says %s", log.String())
	}
	run(t, connect(t, address), "select from earlier", "select from later")
}

func TestMissing_NamesTheMigrationsThatADatabaseLacks(t *testing.T) {
	t.Parallel()
	address := pgtest.URL(t)
	conn := connect(t, address)
	if all, err := db.Missing(t.Context(), conn); err != nil || len(all) != 0 {
		t.Errorf("%v are missing (%v)", all, err)
	}
	run(t, conn, "delete from goose_db_version where version_id = 1")
	if all, err := db.Missing(t.Context(), conn); err != nil || !slices.Equal(all, []int64{1}) {
		t.Errorf("%v are missing (%v)", all, err)
	}
}

func TestADatabaseWithoutTablesLacksAll(t *testing.T) {
	t.Parallel()
	all, err := db.Missing(t.Context(), connect(t, pgtest.Empty(t)))
	if err != nil || !slices.Equal(all, db.Versions()) {
		t.Errorf("%v are missing (%v)", all, err)
	}
}
