package store_test

import (
	"context"
	"encoding/base64"
	"errors"
	"testing"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/store"
	"patchbay/internal/testing/fixture"
)

func TestATransactionIsAllOrNothing(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	boom := errors.New("boom")
	draft := fixture.Draft()
	err := w.Door().Tx(t.Context(), func(tx *store.Tenant) error {
		if _, err := tx.Connectors().Create(t.Context(), draft); err != nil {
			return err
		}
		if _, err := tx.Connectors().Get(t.Context(), connectors.Ref(draft.Slug)); err != nil {
			return err
		}
		return boom
	})
	if !errors.Is(err, boom) {
		t.Fatalf("error = %v", err)
	}
	_, err = w.Door().Connectors().Get(t.Context(), connectors.Ref(draft.Slug))
	wantKind(t, err, fault.NotFound)

	err = w.Door().Tx(t.Context(), func(tx *store.Tenant) error {
		if _, err := tx.Connectors().Create(t.Context(), draft); err != nil {
			return err
		}
		return tx.Audit().Record(t.Context(), store.Event{ActorType: "system", Action: "connector.create", Detail: map[string]any{"note": "a\x00b \\u0000"}, After: store.State{"name": "a\x00"}})
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err = w.Door().Connectors().Get(t.Context(), connectors.Ref(draft.Slug)); err != nil {
		t.Error(err)
	}
}

func TestTransactionsDoNotNest(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	err := w.Door().Tx(t.Context(), func(tx *store.Tenant) error {
		return tx.Tx(t.Context(), func(*store.Tenant) error { return nil })
	})
	if err == nil {
		t.Error("a transaction opened inside one")
	}
}

func TestTx_CancelledCallerReleasesConnection(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	for range 20 { // more than the pool has
		ctx, cancel := context.WithCancel(t.Context())
		err := w.Door().Tx(ctx, func(tx *store.Tenant) error {
			cancel()
			_, err := tx.Self(ctx)
			return err
		})
		if !errors.Is(err, context.Canceled) {
			t.Fatalf("error = %v, want the caller's cancellation", err)
		}
	}
	if _, err := w.Door().Self(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestAReadIsOneRoundTrip(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	before, trips := w.Queries(), w.RoundTrips()
	if _, err := w.Door().Self(t.Context()); err != nil {
		t.Fatal(err)
	}
	if q, r := w.Queries()-before, w.RoundTrips()-trips; q != 1 || r != 1 {
		t.Errorf("%d statements in %d round trips, want 1 in 1", q, r)
	}
}

func TestAnInventedCursorIsMalformed(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	for range 3 {
		w.Connector(t)
	}
	list, err := w.Door().Connectors().List(t.Context(), store.ConnectorFilter{Page: store.Page{Limit: 1}})
	if err != nil {
		t.Fatal(err)
	}
	encode := base64.RawURLEncoding.EncodeToString
	for _, cursor := range []string{
		"x", "!!!", "e30", "bnVsbA", encode([]byte(`[]`)), encode([]byte(`["connectors"]`)), encode([]byte(`["connectors","a","b"]`)),
		encode([]byte(`["connectors","a\u0000","0190e0e0-0000-7000-8000-000000000000"]`)), list.Next + "=", list.Next[1:],
	} {
		p := store.Page{Cursor: cursor}
		_, err := w.Door().Connectors().List(t.Context(), store.ConnectorFilter{Page: p})
		wantKind(t, err, fault.Malformed)
		_, err = w.Door().Tools().List(t.Context(), store.ToolFilter{Page: p})
		wantKind(t, err, fault.Malformed)
	}
	p := store.Page{Cursor: list.Next} // another list's
	_, err = w.Door().Agents().List(t.Context(), p)
	wantKind(t, err, fault.Malformed)
	_, err = w.Door().People().Members(t.Context(), p)
	wantKind(t, err, fault.Malformed)
	_, err = w.Door().People().APIKeys(t.Context(), p)
	wantKind(t, err, fault.Malformed)
	_, err = w.Door().Syncs().List(t.Context(), connectors.ConnectorID{}, p)
	wantKind(t, err, fault.Malformed)
	_, err = w.Door().Connectors().Credentials(t.Context(), connectors.ConnectorID{}, p)
	wantKind(t, err, fault.Malformed)
	_, err = w.Door().Tools().Quarantined(t.Context(), connectors.ConnectorID{}, store.Page{Cursor: encode([]byte(`["quarantined","99999999999"]`))})
	wantKind(t, err, fault.Malformed)
}

func TestADatabaseThatIsGoneIsUnavailable(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	w.Pool.Close()
	_, err := w.Door().Self(t.Context())
	wantKind(t, err, fault.Unavailable)
	wantKind(t, w.Door().Tx(t.Context(), func(*store.Tenant) error { return nil }), fault.Unavailable)
}
