package db_test

import (
	"context"
	"io/fs"
	"os"
	"strconv"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"

	"patchbay/db"
	"patchbay/internal/testing/pgtest"
)

// migrateTo brings a database to a version, as a program of that version does.
func migrateTo(t *testing.T, conn *pgx.Conn, version int64) {
	t.Helper()
	sqlDB := stdlib.OpenDB(*conn.Config())
	defer sqlDB.Close()
	files, ok := db.Migrations().(fs.ReadDirFS)
	if !ok {
		t.Fatal("the migrations cannot be listed")
	}
	all := fstest.MapFS{}
	entries, err := files.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		text, err := fs.ReadFile(files, e.Name())
		if err != nil {
			t.Fatal(err)
		}
		all[e.Name()] = &fstest.MapFile{Data: text}
	}
	provider, err := goose.NewProvider(goose.DialectPostgres, sqlDB, all)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := provider.UpTo(context.WithoutCancel(t.Context()), version); err != nil {
		t.Fatal(err)
	}
}

const addEntry = `insert into audit_events (tenant_id, id, actor_type, actor_name, action, target)
	values ($1, (rpad(lpad(to_hex((extract(epoch from clock_timestamp()) * 1000)::bigint), 12, '0'), 16, '7') || right(replace(gen_random_uuid()::text, '-', ''), 16))::uuid, 'system', '', 'x', '')`

// TestTheAuditLogGetsPartsWhileActsGoOn has a program of before add entries, by statements that it has prepared, while the log becomes one of
// parts. PATCHBAY_TEST_AUDIT_ROWS=1000000 has as many entries there, and says how long an act waited.
func TestTheAuditLogGetsPartsWhileActsGoOn(t *testing.T) {
	t.Parallel()
	for name, stray := range map[string]int{"whole": 0, "with an entry by a clock that was years ahead": 1} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			getsParts(t, stray)
		})
	}
}

func getsParts(t *testing.T, stray int) {
	t.Helper()
	rows := 5000
	if n, err := strconv.Atoi(os.Getenv("PATCHBAY_TEST_AUDIT_ROWS")); err == nil {
		rows = n
	}
	pgtest.URL(t) // the runtime role belongs to the server: let it be there
	address := pgtest.Empty(t)
	owner, program := connect(t, address), connect(t, address)
	migrateTo(t, owner, 46)
	const tenant = "00000000-0000-7000-8000-000000000001"
	run(t, owner, "select set_config('app.system', 'on', false)", "grant usage on schema public to patchbay_app", "grant execute on all functions in schema public to patchbay_app",
		"insert into tenants (id, slug, name) values ('"+tenant+"', 'a', 'A')",
		"alter table audit_events disable trigger audit_chained", // its history has no links: that they go on is what counts
		`insert into audit_events (tenant_id, id, actor_type, actor_name, action, target, detail)
		 select '`+tenant+`', (rpad(lpad(to_hex((extract(epoch from now() - i * interval '1 second') * 1000)::bigint), 12, '0'), 16, '7') || lpad(to_hex(i), 16, '0'))::uuid, 'system', '', 'x', '',
		 jsonb_build_object('text', repeat('x', 200)) from generate_series(1, `+strconv.Itoa(rows)+`) i`,
		"alter table audit_events enable trigger audit_chained",
		`insert into audit_events (tenant_id, id, actor_type, actor_name, action, target)
		 select '`+tenant+`', 'f0000000-0000-7000-8000-000000000001', 'system', '', 'x', '' from generate_series(1, `+strconv.Itoa(stray)+`)`)
	run(t, program, "set role patchbay_app", "select set_config('app.system', 'on', false)")

	var longest time.Duration
	added := 0
	adding, enough := context.WithCancel(t.Context())
	var tasks sync.WaitGroup
	begun := make(chan struct{})
	tasks.Go(func() {
		for adding.Err() == nil {
			began := time.Now()
			if _, err := program.Exec(t.Context(), addEntry, tenant); err != nil {
				t.Errorf("an act is refused: %v", err)
				return
			}
			longest = max(longest, time.Since(began))
			if added++; added == 10 {
				close(begun)
			}
		}
	})
	<-begun
	began := time.Now()
	migrateTo(t, owner, 47)
	took := time.Since(began)
	enough()
	tasks.Wait()
	t.Logf("%d entries, %d strays: the migration took %v, %d acts beside it, of which one waited for %v at most", rows, stray, took.Round(time.Millisecond), added, longest.Round(time.Millisecond))

	for i := range 3 { // by the same prepared statement
		if _, err := program.Exec(t.Context(), addEntry, tenant); err != nil {
			t.Fatalf("after it, %d: %v", i, err)
		}
	}
	have := map[string]int64{}
	for name, sql := range map[string]string{
		"entries":            "select count(*) from audit_events",
		"in the first part":  "select count(*) from audit_events_first",
		"in none's":          "select count(*) from audit_events_default",
		"links":              "select count(*) from audit_chain",
		"the head":           "select events from audit_heads",
		"linked to nothing":  "select count(*) from audit_chain c where not exists (select from audit_events e where e.tenant_id = c.tenant_id and e.id = c.event_id)",
		"indexes not whole":  "select count(*) from pg_index where not indisvalid and indrelid in (select oid from pg_class where relname like 'audit_events%')",
		"without a trigger":  "select count(*) from pg_class c where relname like 'audit_events%' and relkind in ('r', 'p') and not exists (select from pg_trigger where tgrelid = c.oid and tgname = 'audit_chained')",
		"looked at twice":    "select count(*) from pg_constraint where conname = 'audit_events_before_month'",
		"rights to the part": "select count(*) from pg_class where relname in ('audit_events_first', 'audit_events_default') and has_table_privilege('patchbay_app', oid, 'select, insert, update, delete')",
	} {
		var n int64
		if err := owner.QueryRow(t.Context(), sql).Scan(&n); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		have[name] = n
	}
	chained := int64(added + 3 + stray)
	want := map[string]int64{
		"entries": int64(rows) + chained, "in the first part": int64(rows) + chained - int64(stray), "in none's": int64(stray), "links": chained, "the head": chained,
		"linked to nothing": 0, "indexes not whole": 0, "without a trigger": 0, "rights to the part": 0, "looked at twice": 0,
	}
	if diff := cmp.Diff(want, have); diff != "" {
		t.Error(diff)
	}
}

// A migration that was cut off is run again from its beginning.
func TestTheMigrationToPartsMayBeCutOffAndRunAgain(t *testing.T) {
	t.Parallel()
	pgtest.URL(t)
	owner := connect(t, pgtest.Empty(t))
	migrateTo(t, owner, 46)
	busy := connect(t, owner.Config().ConnString())
	tx, err := busy.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(t.Context(), "lock table audit_events in row exclusive mode"); err != nil {
		t.Fatal(err)
	}
	ctx, cutOff := context.WithCancel(t.Context())
	defer cutOff()
	sqlDB := stdlib.OpenDB(*owner.Config())
	defer sqlDB.Close()
	provider, err := goose.NewProvider(goose.DialectPostgres, sqlDB, db.Migrations())
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { _, err := provider.UpTo(ctx, 47); ended <- err }()
	for waits := false; !waits; { // for the lock, which nobody gives
		if err := owner.QueryRow(t.Context(), "select exists (select from pg_locks where relation = 'audit_events'::regclass and not granted)").Scan(&waits); err != nil {
			t.Fatal(err)
		}
	}
	cutOff()
	if err := <-ended; err == nil {
		t.Fatal("it did not wait")
	}
	if err := tx.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	migrateTo(t, owner, 47)
	var kind string
	if err := owner.QueryRow(t.Context(), "select relkind::text from pg_class where relname = 'audit_events'").Scan(&kind); err != nil || kind != "p" {
		t.Errorf("the log is %q, %v", kind, err)
	}
}
