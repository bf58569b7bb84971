package sso_test

import (
	"net/url"
	"testing"
	"time"

	"patchbay/internal/auth"
	"patchbay/internal/sso"
	"patchbay/internal/store"
)

// cameBySSO is Ada in the session that a sign-in began.
func (w *office) cameBySSO() auth.Actor {
	w.t.Helper()
	m := w.comes("ada@acme.example")
	return auth.Actor{
		Kind: auth.KindPerson, Tenant: w.owner.Tenant, Role: m.Role, UserID: &m.UserID, Name: m.Name, Email: m.Email,
		Session: store.NewSessionID(), BySSO: true,
	}
}

// confirms re-authenticates at the provider as a person.
func (w *office) confirms(a auth.Actor, as *auth.Actor) (sso.Finished, error) {
	w.t.Helper()
	to, err := w.sso.Confirm(w.t.Context(), a, adasBrowser)
	if err != nil {
		w.t.Fatal(err)
	}
	if u, err := url.Parse(to); err != nil || u.Query().Get("prompt") != "login" || u.Query().Get("max_age") != "0" {
		w.t.Errorf("the provider is asked by %s", to)
	}
	return w.sso.Finish(w.t.Context(), sso.Return{Query: w.authorizeAt(to), Browser: adasBrowser, Person: as})
}

// signedInAt has the provider say when it asked for the password.
func signedInAt(ago time.Duration) lies {
	return lies{token: func(claims map[string]any) { claims["auth_time"] = time.Now().Add(-ago).Unix() }}
}

func TestConfirm_AtProvider(t *testing.T) {
	t.Parallel()
	w := newOffice(t)
	w.on(w.owner, "acme.example")
	a := w.cameBySSO()
	w.idp.lie(signedInAt(0))
	done, err := w.confirms(a, &a)
	if err != nil || !done.Confirmed || done.User != *a.UserID {
		t.Errorf("%+v, %v", done, err)
	}
	if n := len(w.events("sso.sign_in")); n != 1 {
		t.Errorf("%d sign-ins are on record", n)
	}
}

// Large providers leave auth_time out.
func TestConfirm_WithoutAuthTime(t *testing.T) {
	t.Parallel()
	w := newOffice(t)
	w.on(w.owner, "acme.example")
	a := w.cameBySSO()
	if done, err := w.confirms(a, &a); err != nil || !done.Confirmed {
		t.Errorf("%+v, %v", done, err)
	}
}

func TestTheProviderMustHaveAskedThePersonAnew(t *testing.T) {
	t.Parallel()
	w := newOffice(t)
	w.on(w.owner, "acme.example")
	a := w.cameBySSO()
	another, elsewhere := a, a
	another.Session = store.NewSessionID()
	elsewhere.Tenant.ID = w.Other
	eve := lies{person: map[string]any{"sub": "eve-1", "email": "eve@acme.example", "email_verified": true, "groups": []string{"engineers"}}, token: signedInAt(0).token}
	for reason, c := range map[string]struct {
		says lies
		as   *auth.Actor
	}{
		"sso-not-anew": {signedInAt(time.Hour), &a},
		"sso-another":  {eve, &a},
		"sso-confirms": {signedInAt(0), &another},
	} {
		w.idp.lie(c.says)
		done, err := w.confirms(a, c.as)
		refused(t, err, reason)
		if !done.Confirmed {
			t.Errorf("%s: nobody knows what was tried", reason)
		}
	}
	for _, as := range []*auth.Actor{nil, &elsewhere} {
		_, err := w.confirms(a, as)
		refused(t, err, "sso-confirms")
	}
	if _, err := w.St.System().People().UserByEmail(t.Context(), "eve@acme.example"); err == nil {
		t.Error("somebody was made a member on the way")
	}
}

func TestConfirm_NotForPasswordSession(t *testing.T) {
	t.Parallel()
	w := newOffice(t)
	w.on(w.owner, "acme.example")
	if _, err := w.sso.Confirm(t.Context(), w.owner, adasBrowser); err == nil {
		t.Error("the provider would do")
	}
}
