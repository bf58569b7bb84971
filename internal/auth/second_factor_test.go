package auth_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pquerna/otp/totp"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/secret"
	"patchbay/internal/store"
	"patchbay/internal/testing/fixture"
)

// codeAt is what an app shows for a key at a time.
func codeAt(t *testing.T, key secret.Text, at time.Time) string {
	t.Helper()
	code, err := totp.GenerateCode(key.Reveal(), at)
	if err != nil {
		t.Fatal(err)
	}
	return code
}

// code is the current code of a person with the fixture's second factor.
func (w world) code(t *testing.T) string {
	t.Helper()
	return codeAt(t, fixture.CodeKey, w.clock.Now())
}

// proven is a person with a second factor.
func (w world) proven(t *testing.T, role connectors.Role) connectors.Member {
	t.Helper()
	m := w.person(t, role)
	w.SecondFactor(t, m.UserID)
	return m
}

// halfIn gives the password of a person with a second factor.
func (w world) halfIn(t *testing.T, user connectors.UserID) *browser {
	t.Helper()
	b := &browser{t: t, w: w}
	b.do(func(ctx context.Context) {
		if err := w.auth.StartSession(ctx, user, somewhere); fault.As(err) == nil || fault.As(err).Type != auth.TypeCodeWanted {
			t.Errorf("start session: %v", err)
		}
	})
	return b
}

// finish gives the code.
func (b *browser) finish(code string) (err error) {
	b.t.Helper()
	b.do(func(ctx context.Context) { err = b.w.auth.FinishSignIn(ctx, code, somewhere) })
	return err
}

// wantRefused wants a code to be refused, and to have opened nothing.
func (b *browser) wantRefused(code string) {
	b.t.Helper()
	wantKind(b.t, b.finish(code), fault.Invalid)
	_, err := b.who()
	wantKind(b.t, err, fault.Unauthenticated)
}

// enrolled sets a second factor up as people do, and returns its key and the recovery codes.
func (b *browser) enrolled() (key secret.Text, codes []secret.Text) {
	b.t.Helper()
	a := b.actor()
	if err := b.w.auth.BeginSecondFactor(b.t.Context(), a); err != nil {
		b.t.Fatal(err)
	}
	f, err := b.w.auth.SecondFactor(b.t.Context(), a)
	if err != nil || f.On || f.Key.Empty() {
		b.t.Fatalf("%+v, %v", f, err)
	}
	b.do(func(ctx context.Context) {
		codes, err = b.w.auth.ConfirmSecondFactor(ctx, a, codeAt(b.t, f.Key, b.w.clock.Now()))
	})
	if err != nil || len(codes) != 10 {
		b.t.Fatalf("%d recovery codes, %v", len(codes), err)
	}
	b.w.clock.forward(time.Minute)
	return f.Key, codes
}

func TestASignInWithASecondFactorIsTwoSteps(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	m := w.person(t, connectors.RoleMember)
	first := w.signedIn(t, m.UserID)
	elsewhere := w.signedIn(t, m.UserID)
	key, _ := first.enrolled()
	first.actor()
	elsewhere.out(w.auth)

	b := w.halfIn(t, m.UserID)
	token := b.cookie.Value
	b.wantRefused("000000")
	if err := b.finish(codeAt(t, key, w.clock.Now())); err != nil {
		t.Fatal(err)
	}
	if b.cookie.Value == token {
		t.Error("the session has the token of the half that was before it")
	}
	if a, err := b.who(); err != nil || *a.UserID != m.UserID {
		t.Errorf("%+v, %v", a, err)
	}
	wantKind(t, b.finish(codeAt(t, key, w.clock.Now().Add(time.Minute))), fault.Unauthenticated)
}

// A key without a first code may never have reached the app.
func TestASecondFactorCountsFromItsFirstCodeOn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	m := w.person(t, connectors.RoleMember)
	b := w.signedIn(t, m.UserID)
	a := b.actor()
	if err := w.auth.BeginSecondFactor(t.Context(), a); err != nil {
		t.Fatal(err)
	}
	f, err := w.auth.SecondFactor(t.Context(), a)
	if err != nil || !strings.HasPrefix(f.URI.Reveal(), "otpauth://totp/Patchbay:") || !strings.Contains(f.URI.Reveal(), "secret="+f.Key.Reveal()) {
		t.Errorf("%v, %v", f, err)
	}
	b.do(func(ctx context.Context) {
		_, err := w.auth.ConfirmSecondFactor(ctx, a, "000000")
		wantKind(t, err, fault.Invalid)
	})
	w.signedIn(t, m.UserID).actor()
	if err := w.auth.BeginSecondFactor(t.Context(), a); err != nil {
		t.Errorf("another key: %v", err)
	}
	b.enrolled()
	wantKind(t, w.auth.BeginSecondFactor(t.Context(), b.actor()), fault.Conflict)
}

func TestCheckCode_OnceWithinDrift(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	m := w.proven(t, connectors.RoleMember)
	for _, off := range []time.Duration{-time.Minute, time.Minute, -time.Hour} {
		w.halfIn(t, m.UserID).wantRefused(codeAt(t, fixture.CodeKey, w.clock.Now().Add(off)))
	}
	before, now, after := codeAt(t, fixture.CodeKey, w.clock.Now().Add(-30*time.Second)), w.code(t), codeAt(t, fixture.CodeKey, w.clock.Now().Add(30*time.Second))
	for _, code := range []string{before, now[:3] + " " + now[3:], after} {
		if err := w.halfIn(t, m.UserID).finish(code); err != nil {
			t.Errorf("%q: %v", code, err)
		}
		w.halfIn(t, m.UserID).wantRefused(code)
	}
	for _, code := range []string{before, now} { // older than one that was accepted
		w.halfIn(t, m.UserID).wantRefused(code)
	}
}

func TestCheckCode_ConcurrentUse(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	m := w.proven(t, connectors.RoleMember)
	var browsers []*browser
	for range 4 {
		browsers = append(browsers, w.halfIn(t, m.UserID))
	}
	code := w.code(t)
	accepted := make(chan error, len(browsers))
	var all sync.WaitGroup
	for _, b := range browsers {
		all.Go(func() { accepted <- b.finish(code) })
	}
	all.Wait()
	close(accepted)
	n := 0
	for err := range accepted {
		if err == nil {
			n++
		}
	}
	if n != 1 {
		t.Errorf("%d were let in", n)
	}
}

func TestARecoveryCodeOpensOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	m, other := w.person(t, connectors.RoleMember), w.proven(t, connectors.RoleMember)
	first := w.signedIn(t, m.UserID)
	key, codes := first.enrolled()
	if n := w.Count(t, "recovery_codes"); n != 10 {
		t.Errorf("%d are stored", n)
	}
	w.halfIn(t, other.UserID).wantRefused(codes[0].Reveal())
	if err := w.halfIn(t, m.UserID).finish(" " + strings.ToUpper(strings.ReplaceAll(codes[0].Reveal(), "-", ""))); err != nil {
		t.Error(err)
	}
	w.halfIn(t, m.UserID).wantRefused(codes[0].Reveal())
	if f, err := w.auth.SecondFactor(t.Context(), first.actor()); err != nil || f.CodesLeft != 9 || !f.Key.Empty() {
		t.Errorf("%+v, %v", f, err)
	}
	a := first.actor()
	a.Address = somewhere.Address
	_, err := w.auth.RenewRecoveryCodes(t.Context(), a, "000000")
	wantKind(t, err, fault.Invalid)
	renewed, err := w.auth.RenewRecoveryCodes(t.Context(), a, codeAt(t, key, w.clock.Now()))
	if err != nil || len(renewed) != 10 {
		t.Fatalf("%d, %v", len(renewed), err)
	}
	w.halfIn(t, m.UserID).wantRefused(codes[1].Reveal())
	if err := w.halfIn(t, m.UserID).finish(renewed[9].Reveal()); err != nil {
		t.Error(err)
	}
}

func TestWrongCodesCountAsWrongPasswordsDo(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	m := w.proven(t, connectors.RoleMember)
	for i := range 10 {
		// A right password does not reset wrong codes: it would grant ten more guesses each time.
		if _, err := w.auth.SignIn(t.Context(), m.Email, password, somewhere.Address); err != nil {
			t.Fatalf("after %d wrong codes: %v", i, err)
		}
		w.halfIn(t, m.UserID).wantRefused("000000")
	}
	wantKind(t, w.halfIn(t, m.UserID).finish(w.code(t)), fault.RateLimited)
	_, err := w.auth.SignIn(t.Context(), m.Email, password, "203.0.113.9")
	wantKind(t, err, fault.RateLimited)
	w.clock.forward(16 * time.Minute)
	if err := w.halfIn(t, m.UserID).finish(w.code(t)); err != nil {
		t.Fatal(err)
	}
	_, err = w.auth.SignIn(t.Context(), m.Email, "wrong", somewhere.Address)
	wantKind(t, err, fault.Unauthenticated)
}

func TestCheckCode_BoundsConcurrentGuesses(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	m := w.proven(t, connectors.RoleMember)
	var browsers []*browser
	for range 24 {
		browsers = append(browsers, w.halfIn(t, m.UserID))
	}
	answers := make(chan error, len(browsers))
	var all sync.WaitGroup
	for _, b := range browsers {
		all.Go(func() { answers <- b.finish("000000") })
	}
	all.Wait()
	close(answers)
	looked := 0
	for err := range answers {
		if fault.Is(err, fault.Invalid) {
			looked++
		}
	}
	if looked > 10 {
		t.Errorf("%d codes were looked at", looked)
	}
	wantKind(t, w.halfIn(t, m.UserID).finish(w.code(t)), fault.RateLimited)
}

func TestHalfASignInEndsByItself(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	m := w.proven(t, connectors.RoleMember)
	late := w.halfIn(t, m.UserID)
	w.clock.forward(5*time.Minute + time.Second)
	wantKind(t, late.finish(w.code(t)), fault.Unauthenticated)

	replaced := w.halfIn(t, m.UserID)
	hash, err := w.auth.HashPassword(t.Context(), "ada@example.com", "another password")
	if err != nil {
		t.Fatal(err)
	}
	changed := store.Event{ActorType: "person", Action: "account.password"}
	if err := w.St.System().People().ChangePassword(t.Context(), m.UserID, hash, connectors.SessionID{}, w.Tenant, changed); err != nil {
		t.Fatal(err)
	}
	wantKind(t, replaced.finish(w.code(t)), fault.Unauthenticated)

	gone := w.halfIn(t, m.UserID)
	if err := w.auth.RemoveMember(t.Context(), w.owner(t), m.UserID); err != nil {
		t.Fatal(err)
	}
	wantKind(t, gone.finish(w.code(t)), fault.Unauthenticated)
}

// A partial sign-in ends the browser's session and gains nothing of it.
func TestHalfASignInIsNoSession(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	m := w.proven(t, connectors.RoleOwner)
	b := w.signedIn(t, w.person(t, connectors.RoleMember).UserID)
	before := b.actor().Session
	b.do(func(ctx context.Context) { _ = w.auth.StartSession(ctx, m.UserID, somewhere) })
	b.do(func(ctx context.Context) {
		for what, ask := range map[string]func(context.Context) (auth.Actor, error){"session": w.auth.FromSession, "enrolling": w.auth.FromSessionBeforeEnrolment} {
			_, err := ask(ctx)
			if !fault.Is(err, fault.Unauthenticated) {
				t.Errorf("%s: %v", what, err)
			}
		}
	})
	_, err := w.auth.FromToken(t.Context(), secret.Text(b.cookie.Value))
	wantKind(t, err, fault.Unauthenticated)
	if n := w.Count(t, "browser_sessions where id = '"+before.String()+"'"); n != 0 {
		t.Error("what was open stands")
	}
}

// A program of the release before, beside this one, asks for no second factor.
func TestFromSession_RequiresSecondFactor(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	m := w.person(t, connectors.RoleMember)
	b := w.signedIn(t, m.UserID)
	b.actor()
	w.AsSystem(t, "insert into second_factors (user_id, sealed, confirmed_at) values ($1, 'x', now())", []any{m.UserID})
	b.out(w.auth)
}

func TestARequiredSecondFactorComesFirst(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	m := w.person(t, connectors.RoleMember)
	b, bySSO := w.signedIn(t, m.UserID), w.person(t, connectors.RoleMember)
	w.singleSignOn(t, w.Tenant, nil)
	elsewhere := w.bySSO(t, bySSO.UserID, w.Tenant)
	wantKind(t, w.auth.ChangeTenant(t.Context(), b.actor(), auth.TenantChange{SecondFactorRequired: new(true)}), fault.Denied)
	if err := w.auth.ChangeTenant(t.Context(), w.owner(t), auth.TenantChange{SecondFactorRequired: new(true)}); err != nil {
		t.Fatal(err)
	}
	for _, b := range []*browser{b, w.signedIn(t, m.UserID)} {
		_, err := b.who()
		if f := fault.As(err); f == nil || f.Kind != fault.Denied || f.Type != auth.TypeMustEnrolSecondFactor {
			t.Errorf("opened: %v", err)
		}
		_, err = w.auth.FromToken(t.Context(), secret.Text(b.cookie.Value))
		wantKind(t, err, fault.Denied)
	}
	elsewhere.actor()
	w.bySSO(t, bySSO.UserID, w.Tenant).actor()

	var a auth.Actor
	b.do(func(ctx context.Context) { a, _ = w.auth.FromSessionBeforeEnrolment(ctx) })
	if err := w.auth.BeginSecondFactor(t.Context(), a); err != nil {
		t.Fatal(err)
	}
	f, err := w.auth.SecondFactor(t.Context(), a)
	if err != nil {
		t.Fatal(err)
	}
	b.do(func(ctx context.Context) {
		if _, err := w.auth.ConfirmSecondFactor(ctx, a, codeAt(t, f.Key, w.clock.Now())); err != nil {
			t.Error(err)
		}
	})
	b.actor()
}

func TestSecondFactor_NotForSSO(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	m := w.proven(t, connectors.RoleMember)
	w.singleSignOn(t, w.Tenant, nil)
	a := w.bySSO(t, m.UserID, w.Tenant).actor()
	wantKind(t, w.auth.BeginSecondFactor(t.Context(), a), fault.Denied)
	wantKind(t, w.auth.RemoveSecondFactor(t.Context(), a, w.code(t)), fault.Denied)
	_, err := w.auth.RenewRecoveryCodes(t.Context(), a, w.code(t))
	wantKind(t, err, fault.Denied)
}

func TestAnOwnerTakesALostSecondFactorAway(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	m, admin := w.proven(t, connectors.RoleMember), w.signedIn(t, w.person(t, connectors.RoleAdmin).UserID).actor()
	b := w.halfIn(t, m.UserID)
	if err := b.finish(w.code(t)); err != nil {
		t.Fatal(err)
	}
	owner := w.signedIn(t, w.person(t, connectors.RoleOwner).UserID).actor()
	wantKind(t, w.auth.RemoveMemberSecondFactor(t.Context(), admin, m.UserID), fault.Denied)
	wantKind(t, w.auth.RemoveMemberSecondFactor(t.Context(), owner, w.MemberIn(t, w.Other, connectors.RoleMember).UserID), fault.NotFound)
	if err := w.auth.RemoveMemberSecondFactor(t.Context(), owner, m.UserID); err != nil {
		t.Fatal(err)
	}
	b.out(w.auth)
	w.signedIn(t, m.UserID).actor()
	wantKind(t, w.auth.RemoveMemberSecondFactor(t.Context(), owner, m.UserID), fault.NotFound)
	events, err := w.Door().Audit().List(t.Context(), store.AuditFilter{Action: "member.second_factor_remove"})
	if err != nil || len(events.Items) != 1 || events.Items[0].Target != m.Email || len(events.Items[0].Changes()) != 2 {
		t.Errorf("%+v, %v", events.Items, err)
	}
}

// An owner of one tenant could otherwise open the other tenant to a known password.
func TestRemoveSecondFactor_SharedByTenantsNeedsOperator(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	m := w.proven(t, connectors.RoleMember)
	w.MemberIn(t, w.Other, connectors.RoleOwner, func(n *store.NewMember) { n.Email = m.Email })
	owner := w.signedIn(t, w.person(t, connectors.RoleOwner).UserID).actor()
	wantKind(t, w.auth.RemoveMemberSecondFactor(t.Context(), owner, m.UserID), fault.Conflict)
	if err := w.auth.RemoveMemberSecondFactor(t.Context(), w.owner(t), m.UserID); err != nil {
		t.Error(err)
	}
}

// What is asked of the database is what the time is made of, beside the hash.
func TestSignIn_WrongPasswordHidesSecondFactor(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	with, without := w.proven(t, connectors.RoleMember), w.person(t, connectors.RoleMember)
	type told struct {
		text    string
		queries int64
	}
	ask := func(email, address string) told {
		before := w.Queries()
		_, err := w.auth.SignIn(t.Context(), email, "not the password", address)
		wantKind(t, err, fault.Unauthenticated)
		return told{err.Error(), w.Queries() - before}
	}
	want := ask("nobody@example.com", "192.0.2.1")
	for i, email := range []string{with.Email, without.Email} {
		if got := ask(email, []string{"192.0.2.2", "192.0.2.3"}[i]); got != want {
			t.Errorf("%s: %+v, and of nobody %+v", email, got, want)
		}
	}
}

// A thief of a password has no key laid out for the person to confirm.
func TestAKeyIsConfirmedWhereItWasBegunAlone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	m := w.person(t, connectors.RoleMember)
	thief, b := w.signedIn(t, m.UserID), w.signedIn(t, m.UserID)
	if err := w.auth.BeginSecondFactor(t.Context(), thief.actor()); err != nil {
		t.Fatal(err)
	}
	theirs, err := w.auth.SecondFactor(t.Context(), thief.actor())
	if err != nil || theirs.Key.Empty() {
		t.Fatalf("%v, %v", theirs, err)
	}
	if f, err := w.auth.SecondFactor(t.Context(), b.actor()); err != nil || !f.Key.Empty() {
		t.Errorf("another session is shown the key: %v, %v", f, err)
	}
	b.do(func(ctx context.Context) {
		_, err := w.auth.ConfirmSecondFactor(ctx, b.actor(), codeAt(t, theirs.Key, w.clock.Now()))
		wantKind(t, err, fault.Conflict)
	})
	b.enrolled() // makes a key of its own
	if f, err := w.auth.SecondFactor(t.Context(), b.actor()); err != nil || !f.On {
		t.Errorf("%v, %v", f, err)
	}
}

func TestAKeyThatNobodyConfirmsLapses(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	m := w.person(t, connectors.RoleMember)
	b := w.signedIn(t, m.UserID)
	if err := w.auth.BeginSecondFactor(t.Context(), b.actor()); err != nil {
		t.Fatal(err)
	}
	w.AsOwner(t, `update second_factors set created_at = now() - interval '16 minutes'`)
	if f, err := w.auth.SecondFactor(t.Context(), b.actor()); err != nil || !f.Key.Empty() {
		t.Errorf("%v, %v", f, err)
	}
}

// Wrong codes after a right password are audited and bounded.
func TestCheckCode_WrongCodesAreAuditedAndBounded(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	m := w.person(t, connectors.RoleMember)
	key, recovery := w.signedIn(t, m.UserID).enrolled()
	w.AsOwner(t, `update second_factors set wrong_codes = 99`) // over weeks
	b := w.halfIn(t, m.UserID)
	b.wantRefused("000000")
	b.wantRefused(codeAt(t, key, w.clock.Now()))
	if err := b.finish(recovery[0].Reveal()); err != nil {
		t.Fatal(err)
	}
	b = w.halfIn(t, m.UserID)
	if err := b.finish(codeAt(t, key, w.clock.Now())); err != nil {
		t.Errorf("after a recovery code: %v", err)
	}
	list, err := w.Door().Audit().List(t.Context(), store.AuditFilter{Action: "account.second_factor_refuse", Page: store.Page{Limit: 10}})
	if err != nil || len(list.Items) != 2 {
		t.Errorf("%d refusals are on record, want 2: %v", len(list.Items), err)
	}
}
