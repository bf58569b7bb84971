package sso_test

import (
	"testing"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/store"
)

// Two tenants, each with a provider that says whatever helps its owner.
func TestAProviderOpensNothingOfAnotherTenant(t *testing.T) {
	t.Parallel()
	w := newOffice(t)
	w.on(w.owner, "acme.example")
	rival := w.ownerIn(w.Other)
	own := w.idp
	w.idp = newIDP(t)
	w.idp.lie(inGroups("eve@globex.example", "eve-1", "admins"))
	w.on(rival, "globex.example")
	evil := w.idp

	victim := w.Member(t, connectors.RoleAdmin, func(n *store.NewMember) { n.Email = "grace@acme.example" })
	evil.lie(inGroups("grace@acme.example", "grace-1", "admins"))
	_, err := w.signIn("eve@globex.example")
	refused(t, err, "sso-domain")
	if _, err := w.OtherDoor().SSO().MemberByEmail(t.Context(), "grace@acme.example"); !fault.Is(err, fault.NotFound) {
		t.Errorf("grace is a member of the other tenant: %v", err)
	}

	// It claims the domain too: the claim has no effect, and verification for a second tenant fails.
	if err := w.sso.Claim(t.Context(), rival, "acme.example"); err != nil {
		t.Fatal(err)
	}
	_, err = w.signIn("eve@globex.example")
	refused(t, err, "sso-domain")
	if err := w.sso.Verify(t.Context(), rival, "acme.example"); !fault.Is(err, fault.Conflict) {
		t.Errorf("verify: %v", err)
	}
	if err := w.sso.Vouch(t.Context(), operatorOf(rival), "acme.example"); !fault.Is(err, fault.Conflict) {
		t.Errorf("vouch: %v", err)
	}
	// Addresses of acme.example are still sent to acme's provider.
	w.idp = own
	own.lie(inGroups("grace@acme.example", "grace-1", "admins"))
	if m := w.comes("grace@acme.example"); m.UserID != victim.UserID {
		t.Errorf("%+v", m)
	}
	// The settings are per tenant.
	theirs, err := w.sso.Settings(t.Context(), rival)
	if err != nil || theirs.Issuer != evil.URL || len(theirs.Domains) != 2 {
		t.Errorf("%+v, %v", theirs, err)
	}
}

// The account of a member of another tenant has a password that an owner there may have chosen: it stays as it is.
func TestSignIn_MakesAnAccountOfTheTenant(t *testing.T) {
	t.Parallel()
	w := newOffice(t)
	there := w.MemberIn(t, w.Other, connectors.RoleOwner, func(n *store.NewMember) { n.Email, n.PasswordHash = "ada@acme.example", "$argon2id$hash" })
	w.on(w.owner, "acme.example")
	m := w.comes("ada@acme.example")
	if m.UserID == there.UserID || m.Role != connectors.RoleMember {
		t.Fatalf("%+v", m)
	}
	here, err := w.St.System().People().Membership(t.Context(), m.UserID, w.Tenant)
	if err != nil || !here.SSOOnly || !here.SSO || !here.Issued {
		t.Errorf("here: %+v, %v", here, err)
	}
	elsewhere, err := w.St.System().People().Membership(t.Context(), there.UserID, w.Other)
	if err != nil || elsewhere.SSOOnly || elsewhere.Role != connectors.RoleOwner {
		t.Errorf("elsewhere: %+v, %v", elsewhere, err)
	}
}
