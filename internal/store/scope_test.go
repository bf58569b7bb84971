package store_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"patchbay/internal/connectors"
	"patchbay/internal/store"
	"patchbay/internal/testing/fixture"
)

// A connection that kept a tenant's setting, or the system's, would show its rows to the next caller.
func TestNoConnectionKeepsAScope(t *testing.T) {
	t.Parallel()
	keepsNoScope(t, fixture.New(t))
}

// Behind PgBouncer every transaction may be in a session that another tenant's has just left.
func TestNoSessionBehindAPoolerKeepsAScope(t *testing.T) {
	t.Parallel()
	keepsNoScope(t, fixture.Pooled(t))
}

func keepsNoScope(t *testing.T, w *fixture.World) {
	t.Helper()
	w.Connector(t)
	var callers sync.WaitGroup
	for range 4 {
		callers.Go(func() {
			for range 50 {
				misuse(t.Context(), w)
				wantNoScope(t, w.Pool)
			}
		})
	}
	callers.Wait()
}

func wantNoScope(t *testing.T, pool *pgxpool.Pool) {
	t.Helper()
	var tenant, system, role string
	var seen int
	err := pool.QueryRow(t.Context(), `
		select coalesce(current_setting('app.tenant_id', true), ''), coalesce(current_setting('app.system', true), ''), current_user,
		       (select count(*) from connectors)`,
	).Scan(&tenant, &system, &role, &seen)
	if err != nil || tenant != "" || system != "" || role != "patchbay_app" || seen != 0 {
		t.Errorf("tenant %q, system %q, role %q, %d connectors are seen, %v", tenant, system, role, seen, err)
	}
}

// misuse asks through all doors, and leaves in the middle: at any time, by an error, or by a panic.
func misuse(ctx context.Context, w *fixture.World) {
	leaving, cancel := context.WithTimeout(ctx, time.Duration(rand.IntN(10_000))*time.Microsecond)
	defer cancel()
	_, _ = w.Door().Connectors().List(leaving, store.ConnectorFilter{})
	_, _ = w.St.System().Tenants(leaving)
	_, _ = w.Door().People().IssueAccount(leaving, store.NewMember{Email: "a@b", Role: "king"})
	_ = w.OtherDoor().Tx(ctx, func(tx *store.Tenant) error {
		_, _ = tx.Connectors().Get(leaving, connectors.Ref("none"))
		return errors.New("on second thoughts")
	})
	_, _ = w.Door().Syncs().Baseline(leaving, connectors.ConnectorID{})
	_ = w.OtherDoor().Snapshot(ctx, func(tx *store.Tenant) error {
		_, err := tx.Connectors().Get(leaving, connectors.Ref("none"))
		return err
	})
	func() {
		defer func() { _ = recover() }()
		_ = w.Door().Tx(ctx, func(*store.Tenant) error { panic("a mistake") })
	}()
}
