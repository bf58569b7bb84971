package pgtest

import (
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"patchbay/db"
)

// poolSize is small: a test needs few connections, and all parallel tests of a binary share one server.
const poolSize = 6

// URL returns the address of a fresh, migrated database as the owner of its tables. It is dropped after the test.
func URL(t testing.TB) string {
	t.Helper()
	return clone(t, func(s *shared) (string, error) { return s.migratedTemplate(t.Context()) })
}

// Resettable returns the address of a fresh, migrated database as the owner of its tables, for one test after another:
// ResetQuery deletes what a test left. drop removes it, and need not be called: the server ends with the test binary.
func Resettable(t testing.TB) (url string, drop func()) {
	t.Helper()
	return cloneTemplate(t, func(s *shared) (string, error) { return s.resettableTemplate(t.Context()) })
}

// Empty returns the address of a fresh database without any table, for tests of the migrations.
func Empty(t testing.TB) string {
	t.Helper()
	return clone(t, func(*shared) (string, error) { return "template1", nil })
}

// Pool returns connections to a fresh, migrated database as the runtime role.
func Pool(t testing.TB) *pgxpool.Pool {
	t.Helper()
	return Open(t, URL(t), db.PoolOptions{})
}

// Open opens connections as the runtime role to a database that URL gave, closed at the test's end.
func Open(t testing.TB, url string, opts db.PoolOptions) *pgxpool.Pool {
	t.Helper()
	if opts.MaxConns == 0 {
		opts.MaxConns = poolSize
	}
	pool, err := db.OpenPool(t.Context(), url, opts)
	if err != nil {
		t.Fatalf("open the test database: %v", err)
	}
	t.Cleanup(pool.Close)
	return pool
}

func clone(t testing.TB, from func(*shared) (string, error)) string {
	t.Helper()
	url, drop := cloneTemplate(t, from)
	t.Cleanup(drop)
	return url
}

func cloneTemplate(t testing.TB, from func(*shared) (string, error)) (url string, drop func()) {
	t.Helper()
	s, err := open()
	if err != nil {
		t.Fatalf("test database server: %v", err)
	}
	template, err := from(s)
	if err != nil {
		t.Fatalf("template database: %v", err)
	}
	name, err := s.create(t.Context(), template)
	if err != nil {
		t.Fatalf("test database: %v", err)
	}
	return s.url(name), func() { s.dropLater(name) }
}
