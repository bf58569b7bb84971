package db_test

import (
	"log/slog"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"

	"patchbay/db"
	"patchbay/internal/testing/pgtest"
)

// As where a program between two releases had a later migration already, and not this one.
func TestAMigrationThatIsOlderThanTheNewestAndLackingIsApplied(t *testing.T) {
	t.Parallel()
	const lacking = 50
	address := pgtest.URL(t)
	config, err := pgx.ParseConfig(address)
	if err != nil {
		t.Fatal(err)
	}
	owner := stdlib.OpenDB(*config)
	defer func() { _ = owner.Close() }()
	migrations, err := goose.NewProvider(goose.DialectPostgres, owner, db.Migrations())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := migrations.ApplyVersion(t.Context(), lacking, false); err != nil {
		t.Fatal(err)
	}
	missing := func() []int64 {
		t.Helper()
		all, err := db.Missing(t.Context(), connect(t, address))
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	if applied, wanted := current(t, address); applied != wanted || wanted <= lacking || !slices.Equal(missing(), []int64{lacking}) {
		t.Errorf("of %d applied up to %d, %v are missing", wanted, applied, missing())
	}
	var log strings.Builder
	if err := db.Migrate(t.Context(), address, slog.New(slog.NewTextHandler(&log, nil))); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(log.String(), "level=WARN") || !strings.Contains(log.String(), "version=50") || len(missing()) != 0 {
		t.Errorf("it says %s, and %v are missing", log.String(), missing())
	}
	run(t, connect(t, address), "select from kms_keys")
}

func TestADatabaseWithoutTablesLacksAll(t *testing.T) {
	t.Parallel()
	all, err := db.Missing(t.Context(), connect(t, pgtest.Empty(t)))
	if err != nil || !slices.Equal(all, db.Versions()) {
		t.Errorf("%v are missing (%v)", all, err)
	}
}
