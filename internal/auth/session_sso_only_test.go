package auth_test

import (
	"context"
	"testing"
	"time"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/store"
)

// singleSignOn turns single sign-on on in a tenant; with an owner it is the only way but for that owner's password.
func (w world) singleSignOn(t *testing.T, tenant connectors.TenantID, only *connectors.UserID) {
	t.Helper()
	s := connectors.SSO{
		Issuer: "https://login.example.com", ClientID: "patchbay", GroupsClaim: "groups", TestedAt: new(time.Now()), Enabled: true, Enforced: only != nil, BreakGlass: only,
	}
	if err := w.St.Tenant(tenant).SSO().Save(t.Context(), s, "secret"); err != nil {
		t.Fatal(err)
	}
}

// bySSO signs the user in by the tenant's provider.
func (w world) bySSO(t *testing.T, user connectors.UserID, tenant connectors.TenantID) *browser {
	t.Helper()
	b := &browser{t: t, w: w}
	b.do(func(ctx context.Context) {
		if err := w.auth.StartSessionBySSO(ctx, user, tenant, somewhere); err != nil {
			t.Errorf("start session: %v", err)
		}
	})
	return b
}

func TestStartSessionBySSO_OpensOneTenant(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	m := w.person(t, connectors.RoleMember)
	w.MemberIn(t, w.Other, connectors.RoleOwner, func(n *store.NewMember) { n.Email = m.Email })
	w.singleSignOn(t, w.Tenant, nil)
	b := w.bySSO(t, m.UserID, w.Tenant)
	a, err := b.who()
	if err != nil || a.Tenant.ID != w.Tenant || !a.BySSO || len(a.Memberships) != 1 {
		t.Fatalf("%+v, %v", a, err)
	}
	b.do(func(ctx context.Context) {
		if _, err := w.auth.SwitchTenant(ctx, a, "globex"); !fault.Is(err, fault.NotFound) {
			t.Errorf("switched: %v", err)
		}
	})
	byPassword, err := w.signedIn(t, m.UserID).who()
	if err != nil || byPassword.BySSO || len(byPassword.Memberships) != 2 {
		t.Errorf("by password: %+v, %v", byPassword, err)
	}
	// A sign-in at one tenant's provider opens no other tenant, not even in two steps.
	_, token, err := w.auth.Invite(t.Context(), w.owner(t), "somebody@example.com", connectors.RoleViewer)
	if err != nil {
		t.Fatal(err)
	}
	a.Email = "somebody@example.com"
	if _, _, err := w.auth.JoinAs(t.Context(), a, token, "192.0.2.1"); !fault.Is(err, fault.Conflict) {
		t.Errorf("joined: %v", err)
	}
	if err := w.Door().SSO().Delete(t.Context()); err != nil {
		t.Fatal(err)
	}
	_, err = b.who()
	wantKind(t, err, fault.Unauthenticated)
}

// A session does not open again when another provider is set.
func TestSessionsOfAProviderEndWithIt(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	m := w.person(t, connectors.RoleMember)
	w.singleSignOn(t, w.Tenant, nil)
	gone, byPassword := w.bySSO(t, m.UserID, w.Tenant), w.signedIn(t, m.UserID)
	if err := w.Door().SSO().Delete(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.singleSignOn(t, w.Tenant, nil)
	_, err := gone.who()
	wantKind(t, err, fault.Unauthenticated)
	if _, err := byPassword.who(); err != nil {
		t.Errorf("the session by a password: %v", err)
	}
}

// A provider's operator can sign in as any person of its domain, and must not see their other sessions.
func TestListSessions_SSOSeesOwnOnly(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	m := w.person(t, connectors.RoleMember)
	w.singleSignOn(t, w.Tenant, nil)
	elsewhere, b, second := w.signedIn(t, m.UserID), w.bySSO(t, m.UserID, w.Tenant), w.bySSO(t, m.UserID, w.Tenant)
	a := b.actor()
	list, err := w.auth.ListSessions(t.Context(), a)
	if err != nil || len(list) != 2 {
		t.Errorf("%d sessions are shown, %v", len(list), err)
	}
	wantKind(t, w.auth.RevokeSession(t.Context(), a, elsewhere.actor().Session), fault.NotFound)
	b.do(func(ctx context.Context) {
		if err := w.auth.SignOutEverywhere(ctx, a); err != nil {
			t.Error(err)
		}
	})
	_, err = second.who()
	wantKind(t, err, fault.Unauthenticated)
	if _, err := elsewhere.who(); err != nil {
		t.Errorf("the session by a password: %v", err)
	}
}

func TestSSOOnly_PasswordOpensForBreakGlassOwnerOnly(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	keeper, owner, member := w.person(t, connectors.RoleOwner), w.person(t, connectors.RoleOwner), w.person(t, connectors.RoleMember)
	both := w.person(t, connectors.RoleMember)
	w.MemberIn(t, w.Other, connectors.RoleViewer, func(n *store.NewMember) { n.Email = both.Email })
	before := w.signedIn(t, member.UserID)
	w.singleSignOn(t, w.Tenant, &keeper.UserID)

	_, err := before.who()
	wantKind(t, err, fault.Unauthenticated) // a session by a password, from before
	for _, m := range []connectors.Member{owner, member} {
		b := &browser{t: t, w: w}
		b.do(func(ctx context.Context) {
			for _, err := range []error{w.auth.StartSession(ctx, m.UserID, somewhere), w.auth.StartSessionIn(ctx, m.UserID, w.Tenant, somewhere)} {
				if f := fault.As(err); f == nil || f.Type != auth.TypeSSOOnly {
					t.Errorf("%s: %v", m.Role, err)
				}
			}
		})
		if _, err := b.who(); !fault.Is(err, fault.Unauthenticated) {
			t.Errorf("%s is signed in: %v", m.Role, err)
		}
	}
	if a, err := w.signedIn(t, keeper.UserID).who(); err != nil || a.Tenant.ID != w.Tenant {
		t.Errorf("the owner with the password: %+v, %v", a, err)
	}
	if a, err := w.signedIn(t, both.UserID).who(); err != nil || a.Tenant.ID != w.Other || len(a.Memberships) != 1 {
		t.Errorf("a member of another tenant as well: %+v, %v", a, err)
	}
	if a, err := w.bySSO(t, member.UserID, w.Tenant).who(); err != nil || a.Role != connectors.RoleMember {
		t.Errorf("by single sign-on: %+v, %v", a, err)
	}
}

func TestSignIn_SSOMembershipStaysClosed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	hash, err := w.auth.HashPassword(t.Context(), "ada@example.com", password)
	if err != nil {
		t.Fatal(err)
	}
	there := w.MemberIn(t, w.Other, connectors.RoleViewer, func(n *store.NewMember) { n.PasswordHash = hash })
	w.singleSignOn(t, w.Tenant, nil)
	here, err := w.Door().SSO().JoinBySSO(t.Context(), store.NewMember{Email: there.Email, Role: connectors.RoleAdmin})
	if err != nil {
		t.Fatal(err)
	}
	a, err := w.signedIn(t, there.UserID).who()
	if err != nil || a.Tenant.ID != w.Other || len(a.Memberships) != 1 {
		t.Errorf("by the password that an owner elsewhere may have chosen: %+v, %v", a, err)
	}
	if a, err := w.bySSO(t, here.UserID, w.Tenant).who(); err != nil || a.Role != connectors.RoleAdmin {
		t.Errorf("by single sign-on: %+v, %v", a, err)
	}
}
