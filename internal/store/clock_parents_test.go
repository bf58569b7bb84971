package store_test

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"

	"patchbay/internal/connectors"
	"patchbay/internal/testing/fixture"
)

// asOwner works in a transaction that may do anything with any row.
func asOwner(t *testing.T, w *fixture.World, fn func(tx pgx.Tx) error) {
	t.Helper()
	err := pgx.BeginFunc(t.Context(), w.Pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(t.Context(), "reset role; select set_config('app.system', 'on', true)"); err != nil {
			return err
		}
		if err := fn(tx); err != nil {
			return err
		}
		_, err := tx.Exec(t.Context(), "set role patchbay_app")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// counted is how many rows a query counts.
func counted(t *testing.T, w *fixture.World, query string, args ...any) (n int) {
	t.Helper()
	asOwner(t, w, func(tx pgx.Tx) error { return tx.QueryRow(t.Context(), query, args...).Scan(&n) })
	return n
}

func TestDeleteConnector_DeletesItsChanges(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	c, other := w.Connector(t), w.Connector(t)
	for _, id := range []connectors.ConnectorID{c.ID, other.ID} {
		w.Synced(t, id, "search")
		w.Resynced(t, id, fixture.Definition("create"))
	}
	if err := w.Door().Connectors().Delete(t.Context(), c.ID); err != nil {
		t.Fatal(err)
	}
	const changes = "select count(*) from tool_changes where connector_id = $1"
	if gone, there := counted(t, w, changes, c.ID), counted(t, w, changes, other.ID); gone != 0 || there != 2 {
		t.Errorf("%d changes of the connector that is gone, %d of the other one", gone, there)
	}
}

func TestDeleteTenant_DeletesItsDefinitions(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	w.Synced(t, w.Connector(t).ID, "search")
	c := w.ConnectorIn(t, w.Other, func(*connectors.Draft) {})
	w.ResyncedIn(t, w.Other, c.ID, fixture.Definition("search"))
	asOwner(t, w, func(tx pgx.Tx) error {
		_, err := tx.Exec(context.WithoutCancel(t.Context()), "delete from tenants where id = $1", w.Other)
		return err
	})
	const definitions = "select count(*) from tool_definitions where tenant_id = $1"
	if gone, there := counted(t, w, definitions, w.Other), counted(t, w, definitions, w.Tenant); gone != 0 || there != 1 {
		t.Errorf("%d definitions of the tenant that is gone, %d of the other one", gone, there)
	}
}
