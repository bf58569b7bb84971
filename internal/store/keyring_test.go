package store_test

import (
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"patchbay/db"
	"patchbay/internal/fault"
	"patchbay/internal/secret"
	"patchbay/internal/store"
	"patchbay/internal/testing/fixture"
	"patchbay/internal/testing/pgtest"
)

func TestOpen_ConcurrentStoresShareKeyring(t *testing.T) {
	t.Parallel()
	pool, kek := pgtest.Pool(t), newKEK(t)
	macs := make([][]byte, 6)
	var wg sync.WaitGroup
	for i := range macs {
		wg.Go(func() {
			st, err := store.Open(t.Context(), pool, kek)
			if err != nil {
				t.Error(err)
				return
			}
			defer st.Close()
			if macs[i], err = st.Keyring().MAC("test", []byte("data")); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	for _, m := range macs {
		if string(m) != string(macs[0]) {
			t.Fatal("two stores of one database have different keys")
		}
	}
}

func TestOpen_RefusesOtherKEK(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	before := keysets(t, w.Pool)
	_, err := store.Open(t.Context(), w.Pool, newKEK(t))
	f := fault.As(err)
	if f == nil || f.Message != "PATCHBAY_KEYSET can't decrypt this database's keys. Set the one that it was created with." {
		t.Errorf("error = %v", err)
	}
	if after := keysets(t, w.Pool); after != before {
		t.Error("the stored keys changed")
	}
	st, err := store.Open(t.Context(), w.Pool, w.KEK)
	if err != nil {
		t.Fatalf("the right one is refused: %v", err)
	}
	st.Close()
}

func TestAKeyIsCheckedBeforeTheSchemaIsCurrent(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	check := func(pool *pgxpool.Pool, kek secret.KEK, refused bool) {
		t.Helper()
		if err := store.CheckKey(t.Context(), pool, kek); (err != nil) != refused || refused && !fault.Is(err, fault.Unavailable) {
			t.Errorf("error = %v, refused: %v", err, refused)
		}
	}
	check(pgtest.Open(t, pgtest.Empty(t), db.PoolOptions{}), newKEK(t), false) // no tables
	check(pgtest.Pool(t), newKEK(t), false)                                    // no keys
	check(w.Pool, w.KEK, false)
	check(w.Pool, newKEK(t), true)
	owner, err := pgx.Connect(t.Context(), w.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = owner.Close(t.Context()) }()
	if _, err := owner.Exec(t.Context(), "alter table keysets drop column generation"); err != nil { // of a later migration
		t.Fatal(err)
	}
	check(w.Pool, w.KEK, false)
	check(w.Pool, newKEK(t), true)
}

func TestAStoreIsReadyOnAMigratedDatabaseOnly(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	if err := w.St.Ready(t.Context()); err != nil {
		t.Errorf("ready: %v", err)
	}
	w.Pool.Close()
	if err := w.St.Ready(t.Context()); !fault.Is(err, fault.Unavailable) {
		t.Errorf("without a database: %v", err)
	}
}

func newKEK(t *testing.T) secret.KEK {
	t.Helper()
	kek, err := secret.NewKEK()
	if err != nil {
		t.Fatal(err)
	}
	return kek
}

func keysets(t *testing.T, pool *pgxpool.Pool) (s string) {
	t.Helper()
	if err := asSystem(t.Context(), pool, "select string_agg(purpose || wrapped::text || updated_at, ' ' order by purpose) from keysets", nil, &s); err != nil {
		t.Fatal(err)
	}
	return s
}
