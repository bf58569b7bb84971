package auth_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/secret"
)

// chosenThere is the password that an owner of the other tenant chose.
const chosenThere = secret.Text("known to the other owner")

// ownerThere is an owner of the other tenant.
func (w world) ownerThere() auth.Actor {
	return auth.Actor{Kind: auth.KindPerson, Tenant: connectors.Tenant{ID: w.Other}, Role: connectors.RoleOwner}
}

// issue has an owner make a member with a first password.
func (w world) issue(t *testing.T, owner auth.Actor, email string, pw secret.Text) connectors.Member {
	t.Helper()
	m, err := w.auth.AddMember(t.Context(), owner, auth.Person{Email: email, Name: "Vic", Password: pw, Role: connectors.RoleViewer})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// opens are the tenants that a password opens.
func (w world) opens(t *testing.T, email string, pw secret.Text) []connectors.TenantID {
	t.Helper()
	user, err := w.auth.SignIn(t.Context(), email, pw, home)
	if fault.Is(err, fault.Unauthenticated) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	all, err := w.St.System().People().Memberships(t.Context(), user.ID)
	if err != nil {
		t.Fatal(err)
	}
	var ids []connectors.TenantID
	for _, m := range all {
		ids = append(ids, m.Tenant.ID)
	}
	return ids
}

func TestIssuedAccount_OpensItsTenantAlone(t *testing.T) {
	t.Parallel()
	const email = "vic@example.com"
	ways := map[string]func(t *testing.T, w world) error{
		"added by an owner": func(t *testing.T, w world) error { w.issue(t, w.owner(t), email, password); return nil },
		"invited": func(t *testing.T, w world) error {
			_, token := w.invite(t, email, connectors.RoleOwner)
			_, _, err := w.accept(t, token, password)
			return err
		},
		"added by the operator": func(t *testing.T, w world) error {
			_, err := w.auth.CreateMember(t.Context(), connectors.Tenant{ID: w.Tenant}, auth.Person{Email: email, Password: password, Role: connectors.RoleOwner})
			return err
		},
	}
	for name, add := range ways {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.issue(t, w.ownerThere(), email, chosenThere)
			if err := add(t, w); err != nil {
				t.Fatal(err)
			}
			if got := w.opens(t, email, chosenThere); !slices.Equal(got, []connectors.TenantID{w.Other}) {
				t.Errorf("the other owner's password opens %v, want its tenant alone", got)
			}
			if got := w.opens(t, email, password); !slices.Equal(got, []connectors.TenantID{w.Tenant}) {
				t.Errorf("the person's password opens %v, want the tenant", got)
			}
		})
	}
}

func TestAddMember_AnswerIgnoresOtherTenants(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.issue(t, w.ownerThere(), "issued@example.com", chosenThere)
	own := w.elsewhere(t, "own@example.com")
	if _, err := w.auth.SignIn(t.Context(), own.Email, password, home); err != nil {
		t.Fatal(err)
	}
	want := w.issue(t, w.owner(t), "new@example.com", password)
	for _, email := range []string{"issued@example.com", "own@example.com"} {
		before := w.auth.Computed()
		got := w.issue(t, w.owner(t), email, "a first password")
		if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(connectors.Member{}, "UserID", "Email", "CreatedAt")); diff != "" {
			t.Errorf("%s differs from a new address (-new +known):\n%s", email, diff)
		}
		if listed, err := w.Door().People().Member(t.Context(), got.UserID); err != nil || listed.SignedIn != nil || listed.Name != "Vic" {
			t.Errorf("%s is listed as %+v, %v", email, listed, err)
		}
		if _, err := w.auth.SignIn(t.Context(), email, "wrong", home); !fault.Is(err, fault.Unauthenticated) {
			t.Errorf("%s: %v", email, err)
		}
		if n := w.auth.Computed() - before; n != computedFor(t, w, "new@example.com") {
			t.Errorf("%s: a refusal computes %d, unlike one of a new address", email, n)
		}
		if err := w.auth.RemoveMember(t.Context(), w.owner(t), got.UserID); err != nil {
			t.Fatal(err)
		}
		w.issue(t, w.owner(t), email, password) // removed and added again: a new account
	}
}

// computedFor is what a wrong password for an address costs.
func computedFor(t *testing.T, w world, email string) int64 {
	t.Helper()
	before := w.auth.Computed()
	if _, err := w.auth.SignIn(t.Context(), email, "wrong", home); !fault.Is(err, fault.Unauthenticated) {
		t.Fatal(err)
	}
	return w.auth.Computed() - before
}

// An owner of another tenant may accept an invitation of their own under any address, without locking out its
// person.
func TestAcceptInvitation_SeparateAccount(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	squatted := w.elsewhere(t, "vic@example.com")
	_, token := w.invite(t, squatted.Email, connectors.RoleAdmin)
	p := auth.Person{Name: "Vic", Password: "a password of my own", Separate: true}
	_, m, err := w.auth.AcceptInvitation(t.Context(), token, p, home)
	if err != nil || m.UserID == squatted.UserID {
		t.Fatalf("member %+v, %v", m, err)
	}
	if got := w.opens(t, squatted.Email, p.Password); !slices.Equal(got, []connectors.TenantID{w.Tenant}) {
		t.Errorf("the new password opens %v", got)
	}
	if got := w.opens(t, squatted.Email, password); !slices.Equal(got, []connectors.TenantID{w.Other}) {
		t.Errorf("the other account's password opens %v", got)
	}
}

func TestIssuedPassword_RefusedForOtherAccounts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	issued := w.issue(t, w.ownerThere(), "vic@example.com", chosenThere)
	_, token := w.invite(t, issued.Email, connectors.RoleAdmin)
	for _, separate := range []bool{false, true} {
		_, _, err := w.auth.AcceptInvitation(t.Context(), token, auth.Person{Password: chosenThere, Separate: separate}, home)
		wantKind(t, err, fault.Invalid)
	}
	_, err := w.auth.CreateMember(t.Context(), connectors.Tenant{ID: w.Tenant}, auth.Person{Email: issued.Email, Password: chosenThere, Role: connectors.RoleOwner})
	wantKind(t, err, fault.Invalid)

	signedIn := auth.Actor{Kind: auth.KindPerson, UserID: &issued.UserID, Email: issued.Email, Issued: true}
	_, _, err = w.auth.JoinAs(t.Context(), signedIn, token, home)
	wantKind(t, err, fault.Conflict)
}

// Otherwise one known password would grant ten more guesses at the others after each sign-in.
func TestIssuedAccount_SignInKeepsGuessCount(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	own := w.elsewhere(t, "vic@example.com")
	w.issue(t, w.owner(t), own.Email, "a first password")
	for range 9 {
		_, err := w.auth.SignIn(t.Context(), own.Email, "a guess", home)
		wantKind(t, err, fault.Unauthenticated)
	}
	if _, err := w.auth.SignIn(t.Context(), own.Email, "a first password", home); err != nil {
		t.Fatal(err)
	}
	_, err := w.auth.SignIn(t.Context(), own.Email, "a guess", home)
	if !fault.Is(err, fault.Unauthenticated) && !fault.Is(err, fault.RateLimited) {
		t.Fatal(err)
	}
	_, err = w.auth.SignIn(t.Context(), own.Email, password, home)
	wantKind(t, err, fault.RateLimited)
}

// An account that is given another account's password signs in by it to itself: it does not tell whether the guess was right.
func TestIssuedAccount_IsNoOracle(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	own := w.elsewhere(t, "vic@example.com")
	w.issue(t, w.owner(t), own.Email, password)
	if got := w.opens(t, own.Email, password); !slices.Equal(got, []connectors.TenantID{w.Tenant}) {
		t.Errorf("the guess opens %v, want the guesser's own tenant", got)
	}
}

func TestConfirm_TakesThePasswordOfTheSameAccount(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	own := w.elsewhere(t, "vic@example.com")
	w.issue(t, w.owner(t), own.Email, "a first password")
	a := auth.Actor{Kind: auth.KindPerson, UserID: &own.UserID, Email: own.Email, Tenant: connectors.Tenant{ID: w.Other}}
	wantKind(t, w.auth.ChangePassword(t.Context(), a, "a first password", "another password"), fault.Invalid)
	wantKind(t, w.auth.Reauthenticate(t.Context(), a, "a first password", ""), fault.Invalid)
}
