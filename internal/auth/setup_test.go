package auth_test

import (
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/secret"
	"patchbay/internal/store"
)

var firstPage store.Page

func founder(email string) auth.Person {
	return auth.Person{Email: email, Name: "Ada", Password: password}
}

func TestSetupMakesTheOwnerOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	token, err := w.auth.SetupLink(t.Context(), w.Tenant)
	if err != nil {
		t.Fatal(err)
	}
	if tenant, err := w.auth.CheckSetup(t.Context(), token); err != nil || tenant.ID != w.Tenant {
		t.Errorf("checked: %v, %v", tenant.ID, err)
	}
	m, err := w.auth.Setup(t.Context(), token, founder("Ada@Example.com"), "192.0.2.1")
	if err != nil || m.Role != connectors.RoleOwner || m.Email != "ada@example.com" {
		t.Fatalf("made %+v, %v", m, err)
	}
	_, err = w.auth.Setup(t.Context(), token, founder("eve@example.com"), "192.0.2.1")
	wantKind(t, err, fault.NotFound)
	_, err = w.auth.SetupLink(t.Context(), w.Tenant)
	wantKind(t, err, fault.Conflict)
	if _, err := w.auth.SignIn(t.Context(), "ada@example.com", password, "192.0.2.1"); err != nil {
		t.Errorf("the owner signs in: %v", err)
	}
}

func TestAllSetupLinksDieTogether(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var tokens []secret.Text
	for range 2 {
		token, err := w.auth.SetupLink(t.Context(), w.Tenant)
		if err != nil {
			t.Fatal(err)
		}
		tokens = append(tokens, token)
	}
	if _, err := w.auth.Setup(t.Context(), tokens[0], founder("ada@example.com"), "192.0.2.1"); err != nil {
		t.Fatal(err)
	}
	_, err := w.auth.CheckSetup(t.Context(), tokens[1])
	wantKind(t, err, fault.NotFound)
}

func TestSetupRacesHaveOneWinner(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	token, err := w.auth.SetupLink(t.Context(), w.Tenant)
	if err != nil {
		t.Fatal(err)
	}
	errs := make([]error, 5)
	var wg sync.WaitGroup
	for i := range errs {
		wg.Go(func() { _, errs[i] = w.auth.Setup(t.Context(), token, founder("ada@example.com"), "192.0.2.1") })
	}
	wg.Wait()
	won := 0
	for _, err := range errs {
		if err == nil {
			won++
		} else {
			wantKind(t, err, fault.NotFound)
		}
	}
	if won != 1 {
		t.Errorf("%d winners", won)
	}
}

func TestSetupRefusesBadInputAndStaysUsable(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	token, err := w.auth.SetupLink(t.Context(), w.Tenant)
	if err != nil {
		t.Fatal(err)
	}
	_, err = w.auth.Setup(t.Context(), token, auth.Person{Email: "no address", Password: "short"}, "192.0.2.1")
	wantKind(t, err, fault.Invalid)
	if n := len(fault.As(err).Fields); n != 2 {
		t.Errorf("%d fields, want email and password", n)
	}
	if _, err := w.auth.Setup(t.Context(), token, founder("ada@example.com"), "192.0.2.1"); err != nil {
		t.Errorf("afterwards: %v", err)
	}
	_, err = w.auth.CheckSetup(t.Context(), "guessed")
	wantKind(t, err, fault.NotFound)
}

func TestSetup_ExistingAccountNeedsPassword(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	m := w.person(t, connectors.RoleMember)
	token, err := w.auth.SetupLink(t.Context(), w.Other)
	if err != nil {
		t.Fatal(err)
	}
	taken := founder(m.Email)
	taken.Password = "chosen by a stranger"
	_, err = w.auth.Setup(t.Context(), token, taken, "192.0.2.1")
	wantKind(t, err, fault.Invalid)
	want := []fault.Field{{Location: "password", Message: "Enter the password of your existing account."}}
	if diff := cmp.Diff(want, fault.As(err).Fields); diff != "" {
		t.Error(diff)
	}
	owner, err := w.auth.Setup(t.Context(), token, founder(m.Email), "192.0.2.1")
	if err != nil || owner.UserID != m.UserID || owner.Role != connectors.RoleOwner {
		t.Errorf("with its own: %+v, %v", owner, err)
	}
	if _, err := w.auth.SignIn(t.Context(), m.Email, password, "192.0.2.1"); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}

func TestGuessesAtSetupCountAsWrongSignIns(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	m := w.person(t, connectors.RoleMember)
	token, err := w.auth.SetupLink(t.Context(), w.Other)
	if err != nil {
		t.Fatal(err)
	}
	for range 10 {
		guess := founder(m.Email)
		guess.Password = "chosen by a stranger"
		_, err := w.auth.Setup(t.Context(), token, guess, "192.0.2.1")
		wantKind(t, err, fault.Invalid)
	}
	_, err = w.auth.Setup(t.Context(), token, founder(m.Email), "192.0.2.1")
	wantKind(t, err, fault.RateLimited)
	_, err = w.auth.SignIn(t.Context(), m.Email, password, "192.0.2.2")
	wantKind(t, err, fault.RateLimited)
	if _, err := w.auth.CheckSetup(t.Context(), token); err != nil {
		t.Errorf("the link: %v", err)
	}
}
