package db_test

import (
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"patchbay/db"
	"patchbay/internal/fault"
	"patchbay/internal/testing/pgtest"
)

func TestAPoolerIsFoundOut(t *testing.T) {
	t.Parallel()
	direct := pgtest.URL(t)
	pooled := pgtest.Bouncer(t, pgtest.Pooled(t, direct), 2)
	for name, tc := range map[string]struct {
		route   db.Route
		pooled  bool
		session string
	}{
		"none":                          {db.Route{URL: direct}, false, direct},
		"one":                           {db.Route{URL: pooled}, true, ""},
		"one, and a way past it":        {db.Route{URL: pooled, Direct: direct}, true, direct},
		"it is said that there is":      {db.Route{URL: direct, Pooler: db.PoolerTransaction}, true, ""},
		"it is said that there is none": {db.Route{URL: pooled, Pooler: db.PoolerNone}, false, pooled},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			found, err := tc.route.Find(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			session, ok := found.Session()
			if found.Pooled() != tc.pooled || ok != (tc.session != "") || ok && session != tc.session {
				t.Errorf("a pooler: %v; a session at %q: %v", found.Pooled(), session, ok)
			}
		})
	}
}

func TestAPoolBehindAPoolerWorksInAnySession(t *testing.T) {
	t.Parallel()
	pooled := pgtest.Bouncer(t, pgtest.Pooled(t, pgtest.URL(t)), 2)
	pool := pgtest.Open(t, pooled, db.PoolOptions{Pooled: true})
	for range 20 {
		batch := &pgx.Batch{}
		batch.Queue("select set_config('app.tenant_id', $1, true)", "0190e0e0-0000-7000-8000-000000000000")
		batch.Queue("select current_user || current_setting('app.tenant_id') where $1::text[] is not null and $2::int > 0", []string{"a"}, 3)
		sent := pool.SendBatch(t.Context(), batch)
		_, _ = sent.Exec()
		var seen string
		if err := sent.QueryRow().Scan(&seen); err != nil || seen != "patchbay_app0190e0e0-0000-7000-8000-000000000000" {
			t.Fatalf("seen %q, %v", seen, err)
		}
		if err := sent.Close(); err != nil {
			t.Fatal(err)
		}
		if err := pool.QueryRow(t.Context(), "select coalesce(current_setting('app.tenant_id', true), '')").Scan(&seen); err != nil || seen != "" {
			t.Fatalf("a session keeps %q, %v", seen, err)
		}
	}
	if err := db.Migrated(t.Context(), pool); err != nil {
		t.Error(err)
	}
}

func TestStatementsArePreparedBehindAPoolerWhereTheURLSaysSo(t *testing.T) {
	t.Parallel()
	pooled := pgtest.Bouncer(t, pgtest.Pooled(t, pgtest.URL(t)), 2)
	for more, want := range map[string]pgx.QueryExecMode{
		"": pgx.QueryExecModeCacheDescribe, "&default_query_exec_mode=cache_statement": pgx.QueryExecModeCacheStatement,
	} {
		config := pgtest.Open(t, pooled+more, db.PoolOptions{Pooled: true}).Config()
		if got := config.ConnConfig.DefaultQueryExecMode; got != want {
			t.Errorf("%q: %s, want %s", more, got, want)
		}
	}
}

func TestWhatIsWrongBehindAPoolerIsSaid(t *testing.T) {
	t.Parallel()
	direct := pgtest.URL(t)
	owner := pgtest.Bouncer(t, direct, 2)
	asApp := pgtest.Pooled(t, direct)
	admin := connect(t, direct)
	config, err := pgx.ParseConfig(asApp)
	if err != nil {
		t.Fatal(err)
	}
	run(t, admin, "alter role "+config.User+" set default_transaction_isolation = 'serializable'")
	serializable := pgtest.Bouncer(t, asApp, 2)
	for name, tc := range map[string]struct {
		url    string
		pooled bool
		want   string
	}{
		"nobody says that there is one": {owner, false, "PATCHBAY_DATABASE_POOLER=transaction"},
		"another role":                  {owner, true, "set role = patchbay_app"},
		"another level":                 {serializable, true, "set default_transaction_isolation = 'read committed'"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := db.OpenPool(t.Context(), tc.url, db.PoolOptions{Pooled: tc.pooled})
			if err == nil || !strings.Contains(fault.As(err).Message, tc.want) {
				t.Errorf("error %v; want %q", err, tc.want)
			}
		})
	}
}

func TestAnOldSchemaBehindAPoolerIsSaid(t *testing.T) {
	t.Parallel()
	pgtest.URL(t) // the runtime role belongs to the server: let it be there
	pool := pgtest.Open(t, pgtest.Empty(t), db.PoolOptions{})
	if err := db.Migrated(t.Context(), pool); err == nil || !strings.Contains(fault.As(err).Message, "`patchbay migrate` with the database's direct URL") {
		t.Errorf("error %v", err)
	}
}
