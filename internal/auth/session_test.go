package auth_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/secret"
	"patchbay/internal/store"
)

func TestSessionKnowsItsPersonAndRole(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	m := w.person(t, connectors.RoleMember)
	a, err := w.signedIn(t, m.UserID).who()
	if err != nil {
		t.Fatal(err)
	}
	type facts struct {
		Kind   auth.ActorKind
		Tenant connectors.TenantID
		Role   connectors.Role
		User   connectors.UserID
		Email  string
	}
	want := facts{auth.KindPerson, w.Tenant, connectors.RoleMember, m.UserID, m.Email}
	if diff := cmp.Diff(want, facts{a.Kind, a.Tenant.ID, a.Role, *a.UserID, a.Email}); diff != "" {
		t.Error(diff)
	}
}

func TestSignInRenewsTheSessionToken(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	m := w.person(t, connectors.RoleMember)
	b := w.signedIn(t, m.UserID)
	before := b.cookie.Value
	b.do(func(ctx context.Context) {
		if err := w.auth.StartSession(ctx, m.UserID, somewhere); err != nil {
			t.Error(err)
		}
	})
	if b.cookie.Value == before {
		t.Error("the token that was known before the sign-in still counts")
	}
	stale := &browser{t: t, w: w, cookie: &http.Cookie{Name: b.cookie.Name, Value: before}}
	_, err := stale.who()
	wantKind(t, err, fault.Unauthenticated)
}

func TestCookieIsHostBoundWhereSecure(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	m := w.person(t, connectors.RoleMember)
	for secure, name := range map[bool]string{false: "patchbay", true: "__Host-patchbay"} {
		w.auth = auth.New(auth.Options{Store: w.St, Secure: secure, PasswordCost: &cheap})
		c := w.signedIn(t, m.UserID).cookie
		if c.Name != name || c.Secure != secure || !c.HttpOnly || c.SameSite != http.SameSiteLaxMode || c.Path != "/" || c.Domain != "" {
			t.Errorf("secure %v: %+v", secure, c)
		}
	}
}

func TestRoleIsReadForEachRequest(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	m := w.person(t, connectors.RoleMember)
	b := w.signedIn(t, m.UserID)
	if err := w.Door().People().SetRole(t.Context(), m.UserID, connectors.RoleAdmin); err != nil {
		t.Fatal(err)
	}
	if a, err := b.who(); err != nil || a.Role != connectors.RoleAdmin {
		t.Errorf("role %q, %v", a.Role, err)
	}
	if _, err := w.Door().People().RemoveMember(t.Context(), m.UserID); err != nil {
		t.Fatal(err)
	}
	_, err := b.who()
	wantKind(t, err, fault.Unauthenticated)
}

func TestIdleSessionEnds(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b := w.signedIn(t, w.person(t, connectors.RoleMember).UserID)
	for range 3 {
		w.clock.forward(auth.SessionIdle - time.Minute)
		if _, err := b.who(); err != nil {
			t.Fatalf("in use: %v", err)
		}
	}
	w.clock.forward(auth.SessionIdle + 2*time.Minute)
	_, err := b.who()
	wantKind(t, err, fault.Unauthenticated)
}

func TestSessionEndsHoweverMuchItIsUsed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	m := w.person(t, connectors.RoleMember)
	b, began := w.signedIn(t, m.UserID), w.clock.Now()
	for w.clock.Now().Sub(began) < auth.SessionLifetime-12*time.Hour {
		w.clock.forward(12 * time.Hour)
		if _, err := b.who(); err != nil {
			t.Fatalf("after %v: %v", w.clock.Now().Sub(began), err)
		}
	}
	w.clock.forward(12*time.Hour + time.Minute)
	_, err := b.who()
	wantKind(t, err, fault.Unauthenticated)
}

func TestLimitsOfSessionsAreConfigured(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.auth = auth.New(auth.Options{
		Store: w.St, Now: w.clock.Now, PasswordCost: &cheap, SessionIdle: 10 * time.Minute, SessionLifetime: 25 * time.Minute,
	})
	m := w.person(t, connectors.RoleMember)
	idle, busy := w.signedIn(t, m.UserID), w.signedIn(t, m.UserID)
	for range 2 {
		w.clock.forward(9 * time.Minute)
		if _, err := busy.who(); err != nil {
			t.Fatalf("in use: %v", err)
		}
	}
	_, err := idle.who()
	wantKind(t, err, fault.Unauthenticated)
	w.clock.forward(8 * time.Minute)
	_, err = busy.who()
	wantKind(t, err, fault.Unauthenticated)
}

func TestFromToken_IsNoUse(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b := w.signedIn(t, w.person(t, connectors.RoleMember).UserID)
	for range 3 {
		w.clock.forward(auth.SessionIdle / 4)
		if _, err := w.auth.FromToken(t.Context(), secret.Text(b.cookie.Value)); err != nil {
			t.Fatal(err)
		}
	}
	w.clock.forward(auth.SessionIdle/4 + time.Minute)
	_, err := w.auth.FromToken(t.Context(), secret.Text(b.cookie.Value))
	wantKind(t, err, fault.Unauthenticated)
}

func TestSessionInUseIsWrittenOnceAMinuteAtMost(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b := w.signedIn(t, w.person(t, connectors.RoleMember).UserID)
	if _, err := b.who(); err != nil {
		t.Fatal(err)
	}
	before := w.Queries()
	if _, err := b.who(); err != nil {
		t.Fatal(err)
	}
	if n := w.Queries() - before; n != 2 {
		t.Errorf("a request makes %d queries, want the session and the memberships", n)
	}
}

func TestSignOutEndsTheSession(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b := w.signedIn(t, w.person(t, connectors.RoleMember).UserID)
	stolen := &browser{t: t, w: w, cookie: b.cookie}
	b.do(func(ctx context.Context) {
		if err := w.auth.EndSession(ctx); err != nil {
			t.Error(err)
		}
	})
	_, err := stolen.who()
	wantKind(t, err, fault.Unauthenticated)
	_, err = w.auth.FromToken(context.Background(), secret.Text(stolen.cookie.Value))
	wantKind(t, err, fault.Unauthenticated)
}

func TestSwitchTenantTakesOwnTenantsOnly(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	m := w.person(t, connectors.RoleMember)
	b := w.signedIn(t, m.UserID)
	other, err := w.OtherDoor().Self(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	switchTo := func() (err error) {
		b.do(func(ctx context.Context) {
			a, e := w.auth.FromSession(ctx)
			if e != nil {
				t.Error(e)
			}
			_, err = w.auth.SwitchTenant(ctx, a, other.Slug)
		})
		return err
	}
	wantKind(t, switchTo(), fault.NotFound)

	w.MemberIn(t, w.Other, connectors.RoleViewer, func(n *store.NewMember) { n.Email = m.Email })
	if err := switchTo(); err != nil {
		t.Fatal(err)
	}
	if a, err := b.who(); err != nil || a.Tenant.ID != w.Other || a.Role != connectors.RoleViewer {
		t.Errorf("now in %v as %q, %v", a.Tenant.ID, a.Role, err)
	}
}

// The old password may be checked at the moment at which the new one is set.
func TestStartSession_PasswordChangedMeanwhile(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	m := w.person(t, connectors.RoleMember)
	mine, other := w.signedIn(t, m.UserID), &browser{t: t, w: w}
	user, err := w.auth.SignIn(t.Context(), m.Email, password, "192.0.2.1")
	if err != nil {
		t.Fatal(err)
	}
	mine.do(func(ctx context.Context) {
		a, err := w.auth.FromSession(ctx)
		if err == nil {
			err = w.auth.ChangePassword(ctx, a, password, "another long password")
		}
		if err != nil {
			t.Error(err)
		}
	})
	other.do(func(ctx context.Context) {
		if err := w.auth.StartSession(ctx, user.ID, auth.Browser{PasswordSetAt: user.PasswordSetAt}); err != nil {
			t.Error(err)
		}
	})
	_, err = other.who()
	wantKind(t, err, fault.Unauthenticated)
}

func TestNewPasswordEndsTheOtherSessions(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	m := w.person(t, connectors.RoleMember)
	mine, other := w.signedIn(t, m.UserID), w.signedIn(t, m.UserID)
	const next = secret.Text("another long password")
	change := func(present, next secret.Text) (err error) {
		mine.do(func(ctx context.Context) {
			a, e := w.auth.FromSession(ctx)
			if e != nil {
				t.Error(e)
			}
			err = w.auth.ChangePassword(ctx, a, present, next)
		})
		return err
	}
	wantKind(t, change("not the present one", next), fault.Invalid)
	wantKind(t, change(password, "short"), fault.Invalid)
	if _, err := other.who(); err != nil {
		t.Errorf("after refused changes: %v", err)
	}
	if err := change(password, next); err != nil {
		t.Fatal(err)
	}
	if _, err := mine.who(); err != nil {
		t.Errorf("the session that changed the password: %v", err)
	}
	_, err := other.who()
	wantKind(t, err, fault.Unauthenticated)
	if _, err := w.auth.SignIn(t.Context(), m.Email, next, "192.0.2.1"); err != nil {
		t.Errorf("with the new password: %v", err)
	}
}

func TestPersonWithoutTenantCannotStartASession(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	m := w.person(t, connectors.RoleMember)
	if _, err := w.Door().People().RemoveMember(t.Context(), m.UserID); err != nil {
		t.Fatal(err)
	}
	(&browser{t: t, w: w}).do(func(ctx context.Context) {
		wantKind(t, w.auth.StartSession(ctx, m.UserID, somewhere), fault.Denied)
	})
}
