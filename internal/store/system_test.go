package store_test

import (
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/store"
	"patchbay/internal/testing/fixture"
)

func TestATenantsSlugIsMadeOfItsNameAndUnique(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	sys := w.St.System()
	for _, want := range []string{"umbrella-corp", "umbrella-corp-2", "umbrella-corp-3"} {
		made, err := sys.CreateTenant(t.Context(), "Umbrella Corp.", "", nil)
		if err != nil || made.Slug != want {
			t.Errorf("slug = %q, want %q (%v)", made.Slug, want, err)
		}
	}
	_, err := sys.CreateTenant(t.Context(), "Any", "umbrella-corp", nil)
	wantField(t, err, fault.Conflict, "slug")
	_, err = sys.CreateTenant(t.Context(), "Any", "No Slug", nil)
	wantField(t, err, fault.Invalid, "slug")
	_, err = sys.CreateTenant(t.Context(), "", "", nil)
	wantField(t, err, fault.Invalid, "name")

	long := strings.Repeat("x", 48)
	for range 2 {
		if _, err := sys.CreateTenant(t.Context(), long, "", nil); err != nil {
			t.Errorf("a long name: %v", err)
		}
	}
	for _, ref := range []string{"umbrella-corp", w.Tenant.String()} {
		if _, err := sys.TenantByRef(t.Context(), ref); err != nil {
			t.Errorf("%s: %v", ref, err)
		}
	}
}

func TestMembershipsShowEveryTenantOfAPerson(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	m := w.Member(t, connectors.RoleOwner)
	w.MemberIn(t, w.Other, connectors.RoleViewer, func(n *store.NewMember) { n.Email = m.Email })
	all, err := w.St.System().People().Memberships(t.Context(), m.UserID)
	if err != nil || len(all) != 2 || all[0].Tenant.ID != w.Tenant || all[0].Role != connectors.RoleOwner || all[1].Role != connectors.RoleViewer {
		t.Errorf("memberships = %+v, %v", all, err)
	}
	one, err := w.St.System().People().Membership(t.Context(), m.UserID, w.Other)
	if err != nil || one.Role != connectors.RoleViewer || one.Email != m.Email {
		t.Errorf("membership = %+v, %v", one, err)
	}
	if _, err := w.OtherDoor().People().RemoveMember(t.Context(), m.UserID); err != nil {
		t.Fatal(err)
	}
	_, err = w.St.System().People().Membership(t.Context(), m.UserID, w.Other)
	wantKind(t, err, fault.NotFound)
}

func TestSignInFailuresAreCountedPerAccountAndAddress(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	sys := w.St.System()
	since := time.Now().Add(-time.Minute)
	long := strings.Repeat("é", 5000) + "@example.com"
	for _, f := range [][2]string{{"a@x", "1.1.1.1"}, {"A@x ", "2.2.2.2"}, {"b@x", "1.1.1.1"}, {long, "3.3.3.3"}, {"nul\x00@x", "4.4.4.4"}} {
		if err := sys.People().RecordSignInFailure(t.Context(), f[0], f[1]); err != nil {
			t.Fatal(err)
		}
	}
	want := func(account, address string, byAccount, byAddress int) {
		t.Helper()
		gotAccount, gotAddress, err := sys.People().SignInFailures(t.Context(), account, address, since)
		if err != nil || gotAccount != byAccount || gotAddress != byAddress {
			t.Errorf("%.10s from %s: %d and %d (%v), want %d and %d", account, address, gotAccount, gotAddress, err, byAccount, byAddress)
		}
	}
	want("a@x", "1.1.1.1", 2, 2)
	want(long, "9.9.9.9", 1, 0)
	if err := sys.People().ClearSignInFailures(t.Context(), "a@x"); err != nil {
		t.Fatal(err)
	}
	want("a@x", "1.1.1.1", 0, 1)
	if n, _, err := sys.People().SignInFailures(t.Context(), "b@x", "", time.Now().Add(time.Hour)); n != 0 || err != nil {
		t.Errorf("older ones count: %d (%v)", n, err)
	}
}

func TestExpiredSignInFailuresGoWithNewOnes(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	if err := asSystem(t.Context(), w.Pool, "insert into sign_in_failures (account, address, at) select 'old', '1', now() - interval '2 days' from generate_series(1, 15)", nil); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := w.St.System().People().RecordSignInFailure(t.Context(), "new@x", "2"); err != nil {
			t.Fatal(err)
		}
	}
	var left int
	if err := asSystem(t.Context(), w.Pool, "select count(*) from sign_in_failures", nil, &left); err != nil || left != 2 {
		t.Errorf("%d left (%v), want 2", left, err)
	}
}

// entered is the entry of a first owner.
func entered(m connectors.Member) store.Event {
	return store.Event{ActorType: "person", Action: "member.join", Target: m.Email}
}

func TestASetupLinkWorksOnceForAll(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	sys := w.St.System()
	links := [][]byte{[]byte("hash one"), []byte("hash two"), []byte("hash three")}
	for _, hash := range links {
		if err := sys.SaveSetupLink(t.Context(), w.Tenant, hash); err != nil {
			t.Fatal(err)
		}
	}
	if id, err := sys.SetupLink(t.Context(), links[1]); err != nil || id != w.Tenant {
		t.Errorf("tenant = %v, %v", id, err)
	}

	var made atomic.Int64
	var wg sync.WaitGroup
	for i := range 9 {
		wg.Go(func() {
			m := store.NewMember{Email: "owner" + string(rune('a'+i)) + "@x", PasswordHash: "h", Role: connectors.RoleViewer}
			tenant, member, err := sys.TakeSetupLink(t.Context(), links[i%3], m, entered)
			if err != nil {
				wantKind(t, err, fault.NotFound)
				return
			}
			made.Add(1)
			if tenant != w.Tenant || member.Role != connectors.RoleOwner {
				t.Errorf("made %+v of %v", member, tenant)
			}
		})
	}
	wg.Wait()
	if made.Load() != 1 {
		t.Errorf("%d owners were made, want 1", made.Load())
	}
	if log, err := w.Door().Audit().List(t.Context(), store.AuditFilter{Action: "member.join"}); err != nil || len(log.Items) != 1 {
		t.Errorf("the owner is on record as %+v (%v)", log.Items, err)
	}
	if has, err := sys.HasOwner(t.Context(), w.Tenant); err != nil || !has {
		t.Errorf("has an owner: %v, %v", has, err)
	}
	if has, err := sys.HasOwner(t.Context(), w.Other); err != nil || has {
		t.Errorf("the other tenant has one: %v, %v", has, err)
	}
	for _, hash := range links {
		_, err := sys.SetupLink(t.Context(), hash)
		wantKind(t, err, fault.NotFound)
	}
}

func TestSetupLink_EndsWithFirstOwner(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	if err := w.St.System().SaveSetupLink(t.Context(), w.Tenant, []byte("hash")); err != nil {
		t.Fatal(err)
	}
	w.Member(t, connectors.RoleOwner)
	_, _, err := w.St.System().TakeSetupLink(t.Context(), []byte("hash"), store.NewMember{Email: "late@x"}, entered)
	wantKind(t, err, fault.NotFound)
}

func TestASessionIsKeptUntilItExpires(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	s := w.St.SessionStore()
	if err := s.CommitCtx(t.Context(), "token", []byte("one"), time.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	if err := s.Commit("token", []byte("two"), time.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	if data, ok, err := s.FindCtx(t.Context(), "token"); err != nil || !ok || string(data) != "two" {
		t.Errorf("found %q, %v, %v", data, ok, err)
	}
	if err := s.CommitCtx(t.Context(), "expired", []byte("x"), time.Now().Add(-time.Second)); err != nil {
		t.Fatal(err)
	}
	if _, ok, err := s.Find("expired"); err != nil || ok {
		t.Errorf("an expired session is found: %v, %v", ok, err)
	}
	if err := s.Delete("token"); err != nil {
		t.Fatal(err)
	}
	if _, ok, err := s.Find("token"); err != nil || ok {
		t.Errorf("a deleted session is found: %v, %v", ok, err)
	}
}

func TestAPasswordIsChanged(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	m := w.Member(t, connectors.RoleViewer)
	sys := w.St.System()
	w.AsOwner(t, "insert into user_passwords (user_id, hash) select id, 'old' from users")
	for _, hash := range []string{"new", "late"} { // the second comes when the old one is none any more
		if err := sys.People().SetPasswordHash(t.Context(), m.UserID, "old", hash); err != nil {
			t.Fatal(err)
		}
	}
	if err := sys.People().RecordSignIn(t.Context(), m.UserID); err != nil {
		t.Fatal(err)
	}
	user, err := sys.People().UserByEmail(t.Context(), m.Email)
	if err != nil || user.PasswordHash.Reveal() != "new" {
		t.Errorf("user = %+v, %v", user, err)
	}
	if got, err := w.Door().People().Member(t.Context(), m.UserID); err != nil || got.SignedIn == nil {
		t.Errorf("member = %+v, %v", got, err)
	}
	_, err = sys.People().UserByEmail(t.Context(), "nobody\x00@x")
	wantKind(t, err, fault.NotFound)
}
