package auth_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/alexedwards/argon2id"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/secret"
	"patchbay/internal/store"
)

func TestSignIn_IgnoresAddressCase(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	m := w.person(t, connectors.RoleViewer)
	user, err := w.auth.SignIn(t.Context(), "  "+strings.ToUpper(m.Email)+" ", password, "192.0.2.1")
	if err != nil || user.ID != m.UserID {
		t.Errorf("signed in as %v (%v), want %v", user.ID, err, m.UserID)
	}
	after, err := w.Door().People().Member(t.Context(), m.UserID)
	if err != nil || after.SignedIn == nil {
		t.Errorf("the sign-in was not noted: %v, %v", after.SignedIn, err)
	}
}

func TestSignIn_SameErrorForUnknownAccount(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	m := w.person(t, connectors.RoleViewer)
	_, wrong := w.auth.SignIn(t.Context(), m.Email, "not the password", "192.0.2.1")
	_, unknown := w.auth.SignIn(t.Context(), "nobody@example.com", password, "192.0.2.1")
	wantKind(t, wrong, fault.Unauthenticated)
	wantKind(t, unknown, fault.Unauthenticated)
	if wrong.Error() != unknown.Error() {
		t.Errorf("a stranger can tell %q from %q", wrong, unknown)
	}
}

// How long a refusal takes is what is done for it: the same computation, and the same statements.
func TestSignIn_SameWorkForUnknownAccount(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	known, proven, passwordless := w.person(t, connectors.RoleViewer), w.proven(t, connectors.RoleViewer), w.Member(t, connectors.RoleViewer)
	type work struct{ computed, statements int64 }
	refused := func(email string) work {
		t.Helper()
		computed, statements := w.auth.Computed(), w.Queries()
		_, err := w.auth.SignIn(t.Context(), email, "not the password", "192.0.2.1")
		wantKind(t, err, fault.Unauthenticated)
		return work{w.auth.Computed() - computed, w.Queries() - statements}
	}
	want := refused(known.Email)
	if want.computed == 0 || want.statements == 0 {
		t.Fatalf("nothing is counted: %+v", want)
	}
	for who, email := range map[string]string{"somebody unknown": "nobody@example.com", "no address": "x", "a second factor": proven.Email, "no password": passwordless.Email} {
		if got := refused(email); got != want {
			t.Errorf("%s: %+v, and %+v for a wrong password", who, got, want)
		}
	}
}

// A release may change the cost; accounts keep the old one until their next sign-in.
func TestSignIn_ComputesAlikeWithHashesOfSeveralCosts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	old, mixed := w.person(t, connectors.RoleViewer), w.elsewhere(t, "mixed@example.com")
	dearer := cheap
	dearer.Iterations = 3
	w.auth = auth.New(auth.Options{Store: w.St, Now: w.clock.Now, PasswordCost: &dearer})
	w.issue(t, w.owner(t), mixed.Email, "a first password")
	w.issue(t, w.owner(t), "new@example.com", "a first password")
	want := computedFor(t, w, "nobody@example.com")
	if cost := int64(cheap.Memory) * (1 + 3); want != cost {
		t.Errorf("an unknown address computes %d, want %d", want, cost)
	}
	for _, email := range []string{old.Email, mixed.Email, "new@example.com"} {
		if got := computedFor(t, w, email); got != want {
			t.Errorf("%s computes %d, an unknown address %d", email, got, want)
		}
	}
}

// Two servers that add accounts of an address at the same time choose different salts.
func TestSignIn_GivesAccountsOfAnAddressOneSalt(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	own := w.elsewhere(t, "vic@example.com")
	hash, err := w.auth.HashPassword(t.Context(), "nobody@example.com", "a first password")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Door().People().IssueAccount(t.Context(), store.NewMember{Email: own.Email, PasswordHash: hash, Role: connectors.RoleViewer}); err != nil {
		t.Fatal(err)
	}
	want := computedFor(t, w, "nobody@example.com")
	if got := computedFor(t, w, own.Email); got != 2*want {
		t.Fatalf("two salts compute %d, one %d", got, want)
	}
	for _, pw := range []secret.Text{password, "a first password"} {
		if _, err := w.auth.SignIn(t.Context(), own.Email, pw, home); err != nil {
			t.Fatal(err)
		}
	}
	if got := computedFor(t, w, own.Email); got != want {
		t.Errorf("after both have signed in: %d, want %d", got, want)
	}
}

func TestSignInRefusesAnAccountWithoutPassword(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	m := w.Member(t, connectors.RoleViewer)
	for _, guess := range []secret.Text{"", password} {
		_, err := w.auth.SignIn(t.Context(), m.Email, guess, "192.0.2.1")
		wantKind(t, err, fault.Unauthenticated)
	}
}

func TestSignIn_EleventhForAccountIsRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	m := w.person(t, connectors.RoleViewer)
	for i := range 10 {
		_, err := w.auth.SignIn(t.Context(), m.Email, "wrong", fmt.Sprintf("192.0.2.%d", i))
		wantKind(t, err, fault.Unauthenticated)
	}
	_, err := w.auth.SignIn(t.Context(), m.Email, password, "192.0.2.99")
	wantKind(t, err, fault.RateLimited)
	if fault.As(err).RetryAfter == 0 {
		t.Error("the refusal does not say when to come back")
	}

	w.clock.forward(15*time.Minute + time.Second)
	if _, err := w.auth.SignIn(t.Context(), m.Email, password, "192.0.2.99"); err != nil {
		t.Errorf("after the window: %v", err)
	}
}

func TestSignIn_EleventhFromAddressIsRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	m := w.person(t, connectors.RoleViewer)
	for i := range 10 {
		_, err := w.auth.SignIn(t.Context(), fmt.Sprintf("guess-%d@example.com", i), "wrong", fmt.Sprintf("2001:db8::%x", i))
		wantKind(t, err, fault.Unauthenticated)
	}
	_, err := w.auth.SignIn(t.Context(), m.Email, password, "2001:db8::ffff") // the same customer's /64
	wantKind(t, err, fault.RateLimited)
	if _, err := w.auth.SignIn(t.Context(), m.Email, password, "2001:db8:0:1::1"); err != nil {
		t.Errorf("from another network: %v", err)
	}
}

func TestRightPasswordClearsTheAccountsCount(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	m := w.person(t, connectors.RoleViewer)
	for round := range 3 {
		for range 9 {
			_, err := w.auth.SignIn(t.Context(), m.Email, "wrong", "192.0.2.1")
			wantKind(t, err, fault.Unauthenticated)
		}
		if _, err := w.auth.SignIn(t.Context(), m.Email, password, "192.0.2.1"); err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
	}
}

func TestParallelGuessesAreCountedOneByOne(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	m := w.person(t, connectors.RoleViewer)
	var mu sync.Mutex
	outcomes := map[fault.Kind]int{}
	var wg sync.WaitGroup
	for range 40 {
		wg.Go(func() {
			_, err := w.auth.SignIn(t.Context(), m.Email, "wrong", "192.0.2.1")
			mu.Lock()
			defer mu.Unlock()
			outcomes[fault.As(err).Kind]++
		})
	}
	wg.Wait()
	if outcomes[fault.Unauthenticated] != 10 || outcomes[fault.RateLimited] != 30 {
		t.Errorf("outcomes %v, want 10 checked and 30 refused", outcomes)
	}
}

func TestSignIn_ReplicasShareLimit(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	m := w.person(t, connectors.RoleViewer)
	replicas := []*auth.Service{w.auth}
	for range 3 {
		replicas = append(replicas, auth.New(auth.Options{Store: w.St, Now: w.clock.Now, PasswordCost: &cheap}))
	}
	var mu sync.Mutex
	outcomes := map[fault.Kind]int{}
	var wg sync.WaitGroup
	for i := range 40 {
		wg.Go(func() {
			_, err := replicas[i%len(replicas)].SignIn(t.Context(), m.Email, "wrong", "192.0.2.1")
			mu.Lock()
			defer mu.Unlock()
			outcomes[fault.As(err).Kind]++
		})
	}
	wg.Wait()
	if checked := outcomes[fault.Unauthenticated]; checked > 10 || checked+outcomes[fault.RateLimited] != 40 {
		t.Errorf("outcomes %v, want at most 10 checked and the others refused", outcomes)
	}
}

func TestSignIn_RenewsOutdatedHash(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	m := w.person(t, connectors.RoleViewer)
	dearer := cheap
	dearer.Iterations = 2
	later := auth.New(auth.Options{Store: w.St, PasswordCost: &dearer})
	if _, err := later.SignIn(t.Context(), m.Email, password, "192.0.2.1"); err != nil {
		t.Fatal(err)
	}
	user, err := w.St.System().People().UserByEmail(t.Context(), m.Email)
	if err != nil {
		t.Fatal(err)
	}
	params, _, _, err := argon2id.DecodeHash(user.PasswordHash.Reveal())
	if err != nil || params.Iterations != 2 {
		t.Errorf("stored cost %+v, %v", params, err)
	}
	if _, err := later.SignIn(t.Context(), m.Email, password, "192.0.2.1"); err != nil {
		t.Errorf("with the new hash: %v", err)
	}
}

func TestCheckPassword_Length(t *testing.T) {
	t.Parallel()
	for pw, good := range map[string]bool{
		"":                       false,
		"123456789":              false,
		"1234567890":             true,
		strings.Repeat("ü", 10):  true,
		strings.Repeat("ü", 200): true,
		strings.Repeat("a", 201): false,
	} {
		if err := auth.CheckPassword("password", secret.Text(pw)); (err == nil) != good {
			t.Errorf("%d characters: %v", len([]rune(pw)), err)
		}
	}
}
