package store_test

import (
	"testing"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/store"
	"patchbay/internal/testing/fixture"
)

func TestDeleteTenant_DeletesCallsAndPeople(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	c := w.ConnectorIn(t, w.Other)
	w.AgentIn(t, w.Other)
	w.OldCalls(t, c, "search", 1, 3)
	w.OldCalls(t, w.Connector(t), "search", 1, 2)
	gone, stays := w.MemberIn(t, w.Other, connectors.RoleOwner), w.Member(t, connectors.RoleOwner)
	_, err := w.St.System().People().AddMember(t.Context(), w.Other, store.NewMember{Email: stays.Email, Role: connectors.RoleViewer}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.St.System().DeleteTenant(t.Context(), w.Other); err != nil {
		t.Fatal(err)
	}
	if n := w.Count(t, "tool_calls"); n != 2 {
		t.Errorf("%d calls are left, want those of the other tenant", n)
	}
	if _, err := w.St.System().People().UserByEmail(t.Context(), stays.Email); err != nil {
		t.Errorf("a member of another tenant: %v", err)
	}
	_, err = w.St.System().People().UserByEmail(t.Context(), gone.Email)
	wantKind(t, err, fault.NotFound)
	wantKind(t, w.St.System().DeleteTenant(t.Context(), w.Other), fault.NotFound)
}
