package auth_test

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/secret"
	"patchbay/internal/store"
)

// actor is the signed-in person of this browser.
func (b *browser) actor() auth.Actor {
	b.t.Helper()
	a, err := b.who()
	if err != nil {
		b.t.Fatal(err)
	}
	return a
}

// out fails the test unless the browser is signed out, at every replica.
func (b *browser) out(replicas ...*auth.Service) {
	b.t.Helper()
	for _, replica := range replicas {
		_, err := replica.FromToken(b.t.Context(), secret.Text(b.cookie.Value))
		wantKind(b.t, err, fault.Unauthenticated)
	}
	_, err := b.who()
	wantKind(b.t, err, fault.Unauthenticated)
}

func TestAPersonSeesWhereTheyAreSignedIn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	m, other := w.person(t, connectors.RoleMember), w.person(t, connectors.RoleOwner)
	w.signedIn(t, other.UserID)
	first := w.signedIn(t, m.UserID)
	w.clock.forward(time.Hour)
	second := w.signedIn(t, m.UserID)
	w.clock.forward(time.Hour)
	mine := first.actor() // used again
	all, err := w.auth.ListSessions(t.Context(), mine)
	if err != nil {
		t.Fatal(err)
	}
	want := []connectors.Session{
		{ID: mine.Session, UserAgent: somewhere.UserAgent, Address: somewhere.Address, Began: w.clock.Now().Add(-2 * time.Hour), Seen: w.clock.Now()},
		{ID: all[len(all)-1].ID, UserAgent: somewhere.UserAgent, Address: somewhere.Address, Began: w.clock.Now().Add(-time.Hour), Seen: w.clock.Now().Add(-time.Hour)},
	}
	if diff := cmp.Diff(want, all, cmp.Comparer(func(a, b time.Time) bool { return a.Sub(b).Abs() < time.Millisecond })); diff != "" {
		t.Error(diff)
	}
	w.clock.forward(auth.SessionIdle - 30*time.Minute)
	if all, err := w.auth.ListSessions(t.Context(), mine); err != nil || len(all) != 1 {
		t.Errorf("%d sessions, and the one that lapsed is none (%v)", len(all), err)
	}
	second.out()
}

func TestRevokeSession_EveryReplica(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	replica := auth.New(auth.Options{Store: w.St, Now: w.clock.Now, PasswordCost: &cheap})
	m := w.person(t, connectors.RoleMember)
	here, there, third := w.signedIn(t, m.UserID), w.signedIn(t, m.UserID), w.signedIn(t, m.UserID)
	if err := replica.RevokeSession(t.Context(), here.actor(), there.actor().Session); err != nil {
		t.Fatal(err)
	}
	there.out(w.auth, replica)
	third.actor()
	wantKind(t, w.auth.RevokeSession(t.Context(), here.actor(), connectors.SessionID{}), fault.NotFound)
}

func TestEndSession_StaysEnded(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	m := w.person(t, connectors.RoleMember)
	here, there := w.signedIn(t, m.UserID), w.signedIn(t, m.UserID)
	id := there.actor().Session
	there.do(func(ctx context.Context) { // a request that is on its way meanwhile, and changes its session
		if err := w.auth.RevokeSession(t.Context(), here.actor(), id); err != nil {
			t.Error(err)
		}
		w.auth.Sessions().Put(ctx, "flash", "saved")
	})
	there.out(w.auth)
}

func TestNobodyRevokesAnothersSession(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	victim := w.signedIn(t, w.person(t, connectors.RoleMember).UserID)
	owner := w.signedIn(t, w.person(t, connectors.RoleOwner).UserID)
	wantKind(t, w.auth.RevokeSession(t.Context(), owner.actor(), victim.actor().Session), fault.NotFound)
	victim.actor()
}

func TestSignOutEverywhere_OwnSessionsOnly(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	m := w.person(t, connectors.RoleMember)
	here, there, other := w.signedIn(t, m.UserID), w.signedIn(t, m.UserID), w.signedIn(t, w.person(t, connectors.RoleMember).UserID)
	here.do(func(ctx context.Context) {
		a, err := w.auth.FromSession(ctx)
		if err == nil {
			err = w.auth.SignOutEverywhere(ctx, a)
		}
		if err != nil {
			t.Error(err)
		}
	})
	here.out()
	there.out(w.auth)
	other.actor()
	w.recorded(t, "account.sign_out")
}

func TestAnOwnerSignsAMemberOutEverywhere(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	m := w.person(t, connectors.RoleAdmin)
	b, owner := w.signedIn(t, m.UserID), w.signedIn(t, w.person(t, connectors.RoleOwner).UserID)
	wantKind(t, w.auth.SignOutMember(t.Context(), b.actor(), m.UserID), fault.Denied)
	stranger := w.MemberIn(t, w.Other, connectors.RoleMember)
	wantKind(t, w.auth.SignOutMember(t.Context(), owner.actor(), stranger.UserID), fault.NotFound)
	b.actor()
	if err := w.auth.SignOutMember(t.Context(), owner.actor(), m.UserID); err != nil {
		t.Fatal(err)
	}
	b.out(w.auth)
	owner.actor()
	w.recorded(t, "member.sign_out")
}

// recorded fails the test unless the last entry of the audit log is of such an act.
func (w world) recorded(t *testing.T, action string) {
	t.Helper()
	log, err := w.Door().Audit().List(t.Context(), store.AuditFilter{})
	if err != nil || len(log.Items) == 0 || log.Items[0].Action != action {
		t.Errorf("the last of %d entries is not of %s (%v)", len(log.Items), action, err)
	}
}

// Adding a person of another tenant must not lock them out of it.
func TestSignOutMember_LeavesOtherTenantsOpen(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	m := w.person(t, connectors.RoleMember)
	w.MemberIn(t, w.Other, connectors.RoleMember, func(n *store.NewMember) { n.Email = m.Email })
	here, there := w.signedIn(t, m.UserID), w.signedIn(t, m.UserID)
	there.do(func(ctx context.Context) {
		if _, err := w.auth.SwitchTenant(ctx, there.actor(), "globex"); err != nil {
			t.Fatal(err)
		}
	})
	id, token := w.program(t, m.UserID, connectors.ScopeAdmin)
	if err := w.auth.SignOutMember(t.Context(), w.ownerThere(), m.UserID); err != nil {
		t.Fatal(err)
	}
	if _, err := w.byToken(t, token); err != nil {
		t.Errorf("the program %s of this tenant: %v", id, err)
	}
	if _, err := there.who(); !fault.Is(err, fault.Unauthenticated) {
		t.Errorf("the session in the other tenant: %v", err)
	}
	a, err := here.who()
	if err != nil || len(a.Memberships) != 1 {
		t.Fatalf("the session in this tenant: %+v, %v", a, err)
	}
	here.do(func(ctx context.Context) {
		if _, err := w.auth.SwitchTenant(ctx, a, "globex"); !fault.Is(err, fault.NotFound) {
			t.Errorf("switched without signing in again: %v", err)
		}
	})
	if again := w.signedIn(t, m.UserID).actor(); len(again.Memberships) != 2 {
		t.Errorf("signed in again: %d tenants", len(again.Memberships))
	}
}

// Servers of the release before look for the row of the session alone.
func TestSignOutMember_DeletesSessionsOfASingleTenant(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	m := w.person(t, connectors.RoleMember)
	other := w.person(t, connectors.RoleMember)
	w.MemberIn(t, w.Other, connectors.RoleMember, func(n *store.NewMember) { n.Email = other.Email })
	for user, want := range map[connectors.UserID]int{m.UserID: 0, other.UserID: 1} {
		w.signedIn(t, user)
		if err := w.auth.SignOutMember(t.Context(), w.owner(t), user); err != nil {
			t.Fatal(err)
		}
		var rows int
		w.AsSystem(t, "select count(*) from browser_sessions where user_id = $1", []any{user}, &rows)
		if rows != want {
			t.Errorf("%d rows of sessions, want %d", rows, want)
		}
	}
}

func TestStartSession_EndsEarlierSession(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	m := w.person(t, connectors.RoleMember)
	b := w.signedIn(t, m.UserID)
	b.do(func(ctx context.Context) {
		if err := w.auth.StartSession(ctx, m.UserID, somewhere); err != nil {
			t.Error(err)
		}
	})
	if all, err := w.auth.ListSessions(t.Context(), b.actor()); err != nil || len(all) != 1 {
		t.Errorf("%d sessions of one browser (%v)", len(all), err)
	}
}

func TestChangePassword_EndsOtherSessions(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	m := w.person(t, connectors.RoleMember)
	mine := w.signedIn(t, m.UserID)
	w.signedIn(t, m.UserID)
	mine.do(func(ctx context.Context) {
		a, err := w.auth.FromSession(ctx)
		if err == nil {
			err = w.auth.ChangePassword(ctx, a, password, "another long password")
		}
		if err != nil {
			t.Error(err)
		}
	})
	if all, err := w.auth.ListSessions(t.Context(), mine.actor()); err != nil || len(all) != 1 {
		t.Errorf("%d sessions after the change (%v)", len(all), err)
	}
}

func TestWhatTheDatabaseHoldsOpensNoSession(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b := w.signedIn(t, w.person(t, connectors.RoleMember).UserID)
	sum := sha256.Sum256([]byte(b.cookie.Value))
	hashed := base64.RawURLEncoding.EncodeToString(sum[:])
	if _, found, err := w.St.SessionStore().FindCtx(t.Context(), hashed); err != nil || !found {
		t.Errorf("the session does not stand under the hash of its token: %v", err)
	}
	for _, known := range []string{hashed, b.actor().Session.String()} {
		_, err := w.auth.FromToken(t.Context(), secret.Text(known))
		wantKind(t, err, fault.Unauthenticated)
	}
}

func TestALongUserAgentIsCutAndAnOddOneKept(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	m := w.person(t, connectors.RoleMember)
	b := &browser{t: t, w: w}
	long := make([]byte, 5000)
	for i := range long {
		long[i] = "ü\x00"[i%3]
	}
	b.do(func(ctx context.Context) {
		if err := w.auth.StartSession(ctx, m.UserID, auth.Browser{UserAgent: string(long), Address: "odd"}); err != nil {
			t.Error(err)
		}
	})
	b.actor()
}
