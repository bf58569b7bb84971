package store_test

import (
	"context"
	"testing"

	"patchbay/db"
	"patchbay/internal/connectors"
	"patchbay/internal/store"
	"patchbay/internal/testing/fixture"
)

var snapshotAttempts = map[string]attempt{
	"Snapshot": func(ctx context.Context, o outsider) (bool, error) {
		return false, o.door.Snapshot(ctx, func(tx *store.Tenant) error {
			_, err := tx.Connectors().Get(ctx, connectors.Ref(o.connector.Slug))
			return err
		})
	},
}

func TestSnapshotSeesOneMoment(t *testing.T) {
	t.Parallel()
	for name, world := range map[string]func(testing.TB) *fixture.World{"direct": fixture.New, "pooler": fixture.Pooled} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := world(t)
			kept := w.Connector(t)
			count := func(door *store.Tenant) int {
				t.Helper()
				list, err := door.Connectors().List(t.Context(), store.ConnectorFilter{})
				if err != nil {
					t.Fatal(err)
				}
				return len(list.Items)
			}
			err := w.Door().Snapshot(t.Context(), func(tx *store.Tenant) error {
				before := count(tx)
				w.Agent(t)
				w.Connector(t)
				if now := count(tx); now != before {
					t.Errorf("%d connectors, then %d in the same snapshot", before, now)
				}
				_, err := tx.Syncs().Baseline(t.Context(), kept.ID)
				return err
			})
			if err != nil || count(w.Door()) != 2 {
				t.Errorf("%d connectors afterwards, %v", count(w.Door()), err)
			}
		})
	}
}

func TestSnapshotRefusesWrites(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	for name, write := range map[string]func(tx *store.Tenant) error{
		"statement":   func(tx *store.Tenant) error { return tx.Rename(t.Context(), "Another") },
		"transaction": func(tx *store.Tenant) error { return tx.Tx(t.Context(), func(*store.Tenant) error { return nil }) },
	} {
		if err := w.Door().Snapshot(t.Context(), write); err == nil {
			t.Errorf("%s: a snapshot wrote", name)
		}
	}
}

// A page that has the last of some tools has a next page, also where one of its tools is deleted while it is read.
func TestToolsOrdered_ToolDeletedBetweenStatements(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	deleted, kept := w.Connector(t), w.Connector(t)
	w.Synced(t, deleted.ID, "a")
	w.Synced(t, kept.ID, "b", "c")
	pool, err := db.OpenPool(t.Context(), w.URL, db.PoolOptions{MaxConns: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	st, err := store.Open(t.Context(), pool, w.KEK)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(st.Close)
	read := func() (store.List[connectors.Tool], error) {
		return st.Tenant(w.Tenant).Tools().List(context.WithoutCancel(t.Context()), store.ToolFilter{Page: store.Page{Limit: 2, Order: store.SortOrder{By: "name", Descending: true}}})
	}
	if _, err := read(); err != nil { // which prepares the statements on the only connection
		t.Fatal(err)
	}
	lock, err := w.Pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = lock.Rollback(context.WithoutCancel(t.Context())) }()
	if _, err := lock.Exec(t.Context(), "lock table tool_definitions in access exclusive mode"); err != nil {
		t.Fatal(err)
	}
	type result struct {
		list store.List[connectors.Tool]
		err  error
	}
	done := make(chan result, 1)
	go func() {
		list, err := read()
		done <- result{list, err}
	}()
	blocked(t, w)
	if err := w.Door().Connectors().Delete(t.Context(), kept.ID); err != nil {
		t.Fatal(err)
	}
	if err := lock.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	if r := <-done; r.err != nil || len(r.list.Items) != 2 || r.list.Next == "" {
		t.Errorf("%d tools, next page %q, %v; want 2 and a next page", len(r.list.Items), r.list.Next, r.err)
	}
}
