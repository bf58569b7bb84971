package pgtest_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"patchbay/internal/testing/pgtest"
)

func TestPoolWorksAsTheRuntimeRole(t *testing.T) {
	t.Parallel()
	pool := pgtest.Pool(t)
	var role string
	var bypasses bool
	err := pool.QueryRow(t.Context(), `select current_user, (select rolsuper or rolbypassrls from pg_roles where rolname = current_user)`).Scan(&role, &bypasses)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]any{"patchbay_app", false}, []any{role, bypasses}); diff != "" {
		t.Errorf("role (-want +got):\n%s", diff)
	}
}

func TestTwoTestsDoNotSeeEachOther(t *testing.T) {
	t.Parallel()
	for range 2 {
		pool := pgtest.Pool(t)
		if _, err := pool.Exec(t.Context(), `insert into instances (id) values ('00000000-0000-0000-0000-000000000001')`); err != nil {
			t.Errorf("insert into a fresh database: %v", err)
		}
	}
}

func BenchmarkURL(b *testing.B) {
	pgtest.URL(b)
	for b.Loop() {
		pgtest.URL(b)
	}
}
