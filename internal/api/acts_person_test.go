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

// personActs are what people do about their own second factor, and owners about a member's.
var personActs = map[string]act{
	"tenant.require_second_factor": {thing: "tenant", prepare: asks("PATCH", "/api/v1/tenant", `{"second_factor_required": true}`)},
	"account.sign_in": {besides: true, prepare: func(t *testing.T, w *world) func() error {
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
	"account.lock": {besides: true, prepare: func(t *testing.T, w *world) func() error {
		t.Helper()
		m := w.Member(t, connectors.RoleMember)
		for range 10 {
			if err := w.St.System().RecordSignInFailure(t.Context(), m.Email, "192.0.2.1"); err != nil {
				t.Fatal(err)
			}
		}
		return func() error { return auth.TellLocks(t.Context(), w.St.System(), time.Now()) }
	}},
	"account.sign_out_here": {prepare: func(t *testing.T, w *world) func() error {
		t.Helper()
		person, session := w.signedInSomewhere(t)
		person.Session = session
		return func() error {
			ctx, err := w.auth.Sessions().Load(t.Context(), "")
			if err != nil {
				return err
			}
			return w.auth.SignOut(ctx, person)
		}
	}},
	"account.second_factor_add": {thing: "factor", besides: true, prepare: func(t *testing.T, w *world) func() error {
		t.Helper()
		person, _ := w.signedInSomewhere(t)
		if err := w.auth.BeginSecondFactor(t.Context(), person); err != nil {
			t.Fatal(err)
		}
		return func() error { return second(w.confirm(t, person)) }
	}},
	"account.second_factor_remove": {thing: "factor", besides: true, prepare: func(t *testing.T, w *world) func() error {
		t.Helper()
		person := w.withFactor(t)
		return func() error { return w.auth.RemoveSecondFactor(t.Context(), person, codeOf(t, fixture.CodeKey)) }
	}},
	"account.recovery_codes": {thing: "factor", besides: true, prepare: func(t *testing.T, w *world) func() error {
		t.Helper()
		person := w.withFactor(t)
		return func() error {
			return second(w.auth.RenewRecoveryCodes(t.Context(), person, codeOf(t, fixture.CodeKey)))
		}
	}},
	"account.recovery_code_use": {besides: true, prepare: func(t *testing.T, w *world) func() error {
		t.Helper()
		person, _ := w.signedInSomewhere(t)
		if err := w.auth.BeginSecondFactor(t.Context(), person); err != nil {
			t.Fatal(err)
		}
		codes, err := w.confirm(t, person)
		if err != nil {
			t.Fatal(err)
		}
		return func() error { return second(w.auth.RenewRecoveryCodes(t.Context(), person, codes[0].Reveal())) }
	}},
	"account.second_factor_refuse": {besides: true, prepare: func(t *testing.T, w *world) func() error {
		t.Helper()
		person := w.withFactor(t)
		ctx, err := w.auth.Sessions().Load(context.WithoutCancel(t.Context()), "")
		if err != nil {
			t.Fatal(err)
		}
		if err := w.auth.StartSession(ctx, *person.UserID, auth.Browser{}); !fault.Is(err, fault.Unauthenticated) {
			t.Fatal(err)
		}
		return func() error {
			err := w.auth.FinishSignIn(ctx, "000000", auth.Browser{})
			if fault.Is(err, fault.Invalid) { // the code was refused, and that is on record
				return nil
			}
			return err
		}
	}},
	"member.second_factor_remove": {thing: "factor", besides: true, prepare: func(t *testing.T, w *world) func() error {
		t.Helper()
		person := w.withFactor(t)
		return asks("DELETE", "/api/v1/members/"+person.UserID.String()+"/second_factor", nil)(t, w)
	}},
}

// withFactor is a member who has a second factor.
func (w *world) withFactor(t *testing.T) auth.Actor {
	t.Helper()
	m := w.Member(t, connectors.RoleMember)
	w.SecondFactor(t, m.UserID)
	return auth.Actor{Kind: auth.KindPerson, Tenant: w.operator(t).Tenant, Role: m.Role, UserID: &m.UserID, Name: m.Name, Email: m.Email}
}

// confirm turns the second factor on that a person has begun to set up.
func (w *world) confirm(t *testing.T, person auth.Actor) ([]secret.Text, error) {
	t.Helper()
	f, err := w.auth.SecondFactor(t.Context(), person)
	if err != nil {
		t.Fatal(err)
	}
	ctx, err := w.auth.Sessions().Load(context.WithoutCancel(t.Context()), "")
	if err != nil {
		t.Fatal(err)
	}
	return w.auth.ConfirmSecondFactor(ctx, person, codeOf(t, f.Key))
}

// codeOf is what an app shows now.
func codeOf(t *testing.T, key secret.Text) string {
	t.Helper()
	code, err := totp.GenerateCode(key.Reveal(), time.Now())
	if err != nil {
		t.Fatal(err)
	}
	return code
}
