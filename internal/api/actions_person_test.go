package api_test

import (
	"context"
	"testing"
	"time"

	"github.com/pquerna/otp/totp"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/secret"
	"patchbay/internal/testing/fixture"
)

// personActions are actions about a person's own second factor, and an owner's about a member's.
var personActions = map[string]actionCase{
	"tenant.require_second_factor": {thing: "tenant", prepare: requestAction("PATCH", "/api/v1/tenant", `{"second_factor_required": true}`)},
	"account.sign_in": {alsoChanges: true, prepare: func(t *testing.T, w *world) func() error {
		t.Helper()
		m := w.Member(t, connectors.RoleMember)
		return func() error {
			ctx, err := w.auth.Sessions().Load(t.Context(), "")
			if err != nil {
				return err
			}
			return w.auth.StartSession(ctx, m.UserID, auth.Browser{})
		}
	}},
	"account.lock": {alsoChanges: true, prepare: func(t *testing.T, w *world) func() error {
		t.Helper()
		m := w.Member(t, connectors.RoleMember)
		for range 10 {
			if err := w.St.System().People().RecordSignInFailure(t.Context(), m.Email, "192.0.2.1"); err != nil {
				t.Fatal(err)
			}
		}
		return func() error { return auth.RecordLocks(t.Context(), w.St.System(), time.Now()) }
	}},
	"account.sign_out_here": {prepare: func(t *testing.T, w *world) func() error {
		t.Helper()
		person, session := w.createSession(t)
		person.Session = session
		return func() error {
			ctx, err := w.auth.Sessions().Load(t.Context(), "")
			if err != nil {
				return err
			}
			return w.auth.SignOut(ctx, person)
		}
	}},
	"account.second_factor_add": {thing: "factor", alsoChanges: true, prepare: func(t *testing.T, w *world) func() error {
		t.Helper()
		person, _ := w.createSession(t)
		if err := w.auth.BeginSecondFactor(t.Context(), person); err != nil {
			t.Fatal(err)
		}
		return func() error { return dropFirst(w.confirmFactor(t, person)) }
	}},
	"account.second_factor_remove": {thing: "factor", alsoChanges: true, once: true, prepare: func(t *testing.T, w *world) func() error {
		t.Helper()
		person := w.createMemberWithFactor(t)
		return func() error { return w.auth.RemoveSecondFactor(t.Context(), person, currentCode(t, fixture.CodeKey)) }
	}},
	"account.recovery_codes": {thing: "factor", alsoChanges: true, once: true, prepare: func(t *testing.T, w *world) func() error {
		t.Helper()
		person := w.createMemberWithFactor(t)
		return func() error {
			return dropFirst(w.auth.RenewRecoveryCodes(t.Context(), person, currentCode(t, fixture.CodeKey)))
		}
	}},
	"account.recovery_code_use": {alsoChanges: true, prepare: func(t *testing.T, w *world) func() error {
		t.Helper()
		person, _ := w.createSession(t)
		if err := w.auth.BeginSecondFactor(t.Context(), person); err != nil {
			t.Fatal(err)
		}
		codes, err := w.confirmFactor(t, person)
		if err != nil {
			t.Fatal(err)
		}
		return func() error { return dropFirst(w.auth.RenewRecoveryCodes(t.Context(), person, codes[0].Reveal())) }
	}},
	"account.second_factor_refuse": {alsoChanges: true, prepare: func(t *testing.T, w *world) func() error {
		t.Helper()
		person := w.createMemberWithFactor(t)
		ctx, err := w.auth.Sessions().Load(context.WithoutCancel(t.Context()), "")
		if err != nil {
			t.Fatal(err)
		}
		if err := w.auth.StartSession(ctx, *person.UserID, auth.Browser{}); !fault.Is(err, fault.Unauthenticated) {
			t.Fatal(err)
		}
		return func() error {
			err := w.auth.FinishSignIn(ctx, "000000", auth.Browser{})
			if fault.Is(err, fault.Invalid) { // the refused code has an audit entry
				return nil
			}
			return err
		}
	}},
	"member.second_factor_remove": {thing: "factor", alsoChanges: true, prepare: func(t *testing.T, w *world) func() error {
		t.Helper()
		person := w.createMemberWithFactor(t)
		return requestAction("DELETE", "/api/v1/members/"+person.UserID.String()+"/second_factor", nil)(t, w)
	}},
}

// createMemberWithFactor creates a member with a second factor.
func (w *world) createMemberWithFactor(t *testing.T) auth.Actor {
	t.Helper()
	m := w.Member(t, connectors.RoleMember)
	w.SecondFactor(t, m.UserID)
	return auth.Actor{Kind: auth.KindPerson, Tenant: w.newOperator(t).Tenant, Role: m.Role, UserID: &m.UserID, Name: m.Name, Email: m.Email}
}

// confirmFactor activates a second factor that is being set up.
func (w *world) confirmFactor(t *testing.T, person auth.Actor) ([]secret.Text, error) {
	t.Helper()
	f, err := w.auth.SecondFactor(t.Context(), person)
	if err != nil {
		t.Fatal(err)
	}
	ctx, err := w.auth.Sessions().Load(context.WithoutCancel(t.Context()), "")
	if err != nil {
		t.Fatal(err)
	}
	return w.auth.ConfirmSecondFactor(ctx, person, currentCode(t, f.Key))
}

// currentCode is the current code of a key.
func currentCode(t *testing.T, key secret.Text) string {
	t.Helper()
	code, err := totp.GenerateCode(key.Reveal(), time.Now())
	if err != nil {
		t.Fatal(err)
	}
	return code
}
