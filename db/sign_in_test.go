package db_test

import (
	"testing"

	"patchbay/db"
	"patchbay/internal/testing/pgtest"
)

func TestRuntimeRoleSignsInAndStaysItself(t *testing.T) {
	t.Parallel()
	owner := pgtest.URL(t)
	for range 2 { // the second time nothing is left to do
		url, err := db.LetAppSignIn(t.Context(), owner)
		if err != nil {
			t.Fatal(err)
		}
		pool := pgtest.Open(t, url, db.PoolOptions{MaxConns: 1})
		if _, err := pool.Exec(t.Context(), "reset role"); err != nil {
			t.Fatal(err)
		}
		var user string
		var super, bypasses bool
		err = pool.QueryRow(t.Context(), "select session_user, rolsuper, rolbypassrls from pg_roles where rolname = current_user").Scan(&user, &super, &bypasses)
		if err != nil || user != db.AppRole || super || bypasses {
			t.Errorf("%s, superuser %v, bypasses %v, %v", user, super, bypasses, err)
		}
		if _, err := pool.Exec(t.Context(), "set role patchbay"); err == nil {
			t.Error("the runtime role became the owner")
		}
	}
}
