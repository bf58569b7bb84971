package store_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/store"
	"patchbay/internal/testing/fixture"
)

// deleteGrantOf queues the revocation of a grant of an issuer, and makes it due.
func deleteGrantOf(t *testing.T, w *fixture.World, tenant connectors.TenantID, issuer string) {
	t.Helper()
	c := w.ConnectorIn(t, tenant, func(d *connectors.Draft) { d.Auth.Type = connectors.AuthOAuth2 })
	g := newGrant(c)
	g.Meta.Server.Issuer = issuer
	if err := w.St.Tenant(tenant).Accounts().SaveGrant(t.Context(), g); err != nil {
		t.Fatal(err)
	}
	if err := w.St.Tenant(tenant).Connectors().Delete(t.Context(), c.ID); err != nil {
		t.Fatal(err)
	}
	w.AsOwner(t, "update account_revocations set due_at = now() where due_at > now()") // the earlier ones stay first
}

// claimRevocations claims until there is nothing to claim.
func claimRevocations(t *testing.T, w *fixture.World, after connectors.TenantID) (all []store.ClaimedRevocation) {
	t.Helper()
	for {
		c, err := w.St.System().ClaimRevocation(t.Context(), after)
		if fault.Is(err, fault.NotFound) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		all, after = append(all, c), c.Tenant
	}
}

func TestClaimRevocation_TenantsTakeTurns(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	for _, issuer := range []string{"https://a.example", "https://b.example", "https://c.example"} {
		deleteGrantOf(t, w, w.Tenant, issuer)
	}
	deleteGrantOf(t, w, w.Other, "https://a.example")
	deleteGrantOf(t, w, w.Other, "https://b.example")

	first := claimRevocations(t, w, w.Tenant)
	var turns []connectors.TenantID
	for _, c := range first {
		turns = append(turns, c.Tenant)
	}
	if diff := cmp.Diff([]connectors.TenantID{w.Other, w.Tenant, w.Other, w.Tenant}, turns); diff != "" {
		t.Errorf("turns (-want +got):\n%s", diff)
	}
	if err := w.Door().Accounts().ReleaseRevocation(t.Context(), first[1].ID); err != nil {
		t.Fatal(err)
	}
	if next := claimRevocations(t, w, w.Other); len(next) != 1 || next[0].Issuer != "https://c.example" {
		t.Errorf("claimed after a release: %+v", next)
	}
}

func TestClaimRevocation_OneOfATenantsIssuer(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	deleteGrantOf(t, w, w.Tenant, "https://a.example")
	deleteGrantOf(t, w, w.Tenant, "https://a.example")
	if n := len(claimRevocations(t, w, w.Other)); n != 1 {
		t.Errorf("%d claimed", n)
	}
	w.AsOwner(t, "update account_revocations set claimed_until = now()") // the process died
	if n := len(claimRevocations(t, w, w.Other)); n != 1 {
		t.Errorf("%d claimed after the claim lapsed", n)
	}
}
