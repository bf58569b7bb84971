package store_test

import (
	"context"
	"errors"
	"testing"

	"patchbay/internal/connectors"
	"patchbay/internal/store"
	"patchbay/internal/testing/fixture"
)

// A membership that is added at the same moment counts: its transaction holds the user first.
func TestDropMemberSecondFactor_SeesMembershipBeingAdded(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	m := w.Member(t, connectors.RoleMember)
	w.SecondFactor(t, m.UserID)
	adding, err := w.Pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = adding.Rollback(context.Background()) }()
	if _, err := adding.Exec(t.Context(), "select set_config('app.system', 'on', true)"); err != nil {
		t.Fatal(err)
	}
	if _, err := adding.Exec(t.Context(), "insert into memberships (tenant_id, user_id, role) values ($1, $2, 'viewer')", w.Other, m.UserID); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() {
		done <- w.St.System().People().DropMemberSecondFactor(t.Context(), m.UserID, w.Tenant, store.Event{Action: "member.second_factor_remove", Target: m.Email})
	}()
	waiting(t, w, 1)
	if err := adding.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := <-done; !errors.Is(err, store.ErrMemberElsewhere) {
		t.Errorf("error: %v", err)
	}
	if _, err := w.St.System().People().SecondFactor(t.Context(), m.UserID); err != nil {
		t.Errorf("the second factor is gone: %v", err)
	}
}
