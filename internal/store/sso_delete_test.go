package store_test

import (
	"testing"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/testing/fixture"
)

func TestDeleteTenant_WithBreakGlassOwner(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	owner := w.MemberIn(t, w.Other, connectors.RoleOwner)
	err := w.OtherDoor().SSO().Save(t.Context(), connectors.SSO{
		Issuer: "https://login.example.com", ClientID: "patchbay", GroupsClaim: "groups", TestedAt: new(time.Now()), Enabled: true, Enforced: true, BreakGlass: &owner.UserID,
	}, "secret")
	if err != nil {
		t.Fatal(err)
	}
	if err := w.St.System().DeleteTenant(t.Context(), w.Other); err != nil {
		t.Fatal(err)
	}
}
