package db_test

import (
	"strings"
	"testing"

	"patchbay/db"
	"patchbay/internal/fault"
	"patchbay/internal/testing/pgtest"
)

func TestOpenPoolExplainsWhyThereIsNoConnection(t *testing.T) {
	t.Parallel()
	missing := strings.Replace(pgtest.URL(t), "patchbay_test_", "patchbay_missing_", 1)
	for name, c := range map[string]struct{ url, want string }{
		"no address":    {"postgres://user:s3cret@host:port/x", "DATABASE_URL must look like postgres://"},
		"nobody there":  {"postgres://127.0.0.1:1/x?sslmode=disable", "The database at 127.0.0.1:1 cannot be reached."},
		"nor elsewhere": {"postgres://127.0.0.1:1,127.0.0.1:2/x?target_session_attrs=read-write", "The database at 127.0.0.1:1 and 127.0.0.1:2 cannot be reached."},
		"no database":   {missing, "does not exist"},
		"not migrated":  {pgtest.Empty(t), ""}, // the role is there: tables are the migrations' matter
		"unknown login": {strings.Replace(pgtest.URL(t), "patchbay@", "nobody_knows@", 1), "refuses the user \"nobody_knows\""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pool, err := db.OpenPool(t.Context(), c.url, db.PoolOptions{})
			if c.want == "" {
				if err != nil {
					t.Fatal(err)
				}
				pool.Close()
				return
			}
			if err == nil || !strings.Contains(fault.As(err).Message, c.want) || strings.Contains(err.Error(), "s3cret") {
				t.Errorf("error %v; want %q", err, c.want)
			}
		})
	}
}

func TestTransactionsAreReadCommittedWhateverIsSet(t *testing.T) {
	t.Parallel()
	url := pgtest.URL(t)
	for name, more := range map[string]string{
		"nothing": "", "by the URL": "&default_transaction_isolation=serializable",
		"by its options": "&options=-c%20default_transaction_isolation%3Dserializable",
	} {
		pool, err := db.OpenPool(t.Context(), url+more, db.PoolOptions{})
		if err != nil {
			t.Fatal(err)
		}
		var level string
		if err := pool.QueryRow(t.Context(), "show transaction_isolation").Scan(&level); err != nil || level != "read committed" {
			t.Errorf("%s: %s, %v", name, level, err)
		}
		pool.Close()
	}
}

func TestPoolSizeOfTheURLHolds(t *testing.T) {
	t.Parallel()
	url := pgtest.URL(t)
	for options, want := range map[db.PoolOptions]int32{{}: 3, {MaxConns: 2}: 2} {
		pool, err := db.OpenPool(t.Context(), url+"&pool_max_conns=3", options)
		if err != nil {
			t.Fatal(err)
		}
		if got := pool.Config().MaxConns; got != want {
			t.Errorf("options %+v: at most %d connections, want %d", options, got, want)
		}
		pool.Close()
	}
}
