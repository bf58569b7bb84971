package store_test

import (
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/store"
	"patchbay/internal/testing/fixture"
)

func TestAPersonWhoIsKnownKeepsNameAndPassword(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	w.Member(t, connectors.RoleOwner, func(m *store.NewMember) { m.Email, m.Name, m.PasswordHash = "Ada@Example.com ", "Ada", "first" })

	again, err := w.St.System().People().AddMember(t.Context(), w.Other, store.NewMember{Email: "ada@example.COM", Name: "Eve", PasswordHash: "second", Role: connectors.RoleViewer}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if again.Name != "Ada" || again.Email != "ada@example.com" || again.Role != connectors.RoleViewer {
		t.Errorf("member = %+v", again)
	}
	user, err := w.St.System().People().UserByEmail(t.Context(), "ADA@example.com")
	if err != nil || user.PasswordHash.Reveal() != "first" {
		t.Errorf("the password was changed (%v)", err)
	}
	_, err = w.St.System().People().AddMember(t.Context(), w.Other, store.NewMember{Email: "ada@example.com", Role: connectors.RoleViewer}, nil)
	wantField(t, err, fault.Conflict, "email")
}

func TestWhatIsNoAddressOrNoRoleIsRefused(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	_, err := w.Door().People().IssueAccount(t.Context(), store.NewMember{Email: "nobody", Role: connectors.RoleViewer})
	wantField(t, err, fault.Invalid, "email")
	_, err = w.Door().People().IssueAccount(t.Context(), store.NewMember{Email: "a@b", Role: "king"})
	wantField(t, err, fault.Invalid, "role")
	_, err = w.Door().People().IssueAccount(t.Context(), store.NewMember{Email: "a\x00@b", Role: connectors.RoleViewer})
	wantKind(t, err, fault.Invalid)
}

func TestTheLastOwnerStays(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	owner, admin := w.Member(t, connectors.RoleOwner), w.Member(t, connectors.RoleAdmin)

	wantKind(t, w.Door().People().SetRole(t.Context(), owner.UserID, connectors.RoleAdmin), fault.Conflict)
	_, err := w.Door().People().RemoveMember(t.Context(), owner.UserID)
	wantKind(t, err, fault.Conflict)
	if err := w.Door().People().SetRole(t.Context(), admin.UserID, connectors.RoleOwner); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Door().People().RemoveMember(t.Context(), owner.UserID); err != nil {
		t.Errorf("with a second owner: %v", err)
	}
}

func TestOfTwoOwnersWhoLeaveTogetherOneStays(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	for range 10 {
		tenant, err := w.St.System().CreateTenant(t.Context(), "Pair", "", nil)
		if err != nil {
			t.Fatal(err)
		}
		owners := []connectors.Member{w.MemberIn(t, tenant.ID, connectors.RoleOwner), w.MemberIn(t, tenant.ID, connectors.RoleOwner)}
		var left atomic.Int64
		var wg sync.WaitGroup
		for _, o := range owners {
			wg.Go(func() {
				if _, err := w.St.Tenant(tenant.ID).People().RemoveMember(t.Context(), o.UserID); err == nil {
					left.Add(1)
				}
			})
		}
		wg.Wait()
		if left.Load() != 1 {
			t.Fatalf("%d owners left, want 1", left.Load())
		}
	}
}

func TestMembersAreListedByAddressInPages(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	for _, email := range []string{"c@x", "a@x", "b@x"} {
		w.Member(t, connectors.RoleViewer, func(m *store.NewMember) { m.Email = email })
	}
	first, err := w.Door().People().Members(t.Context(), store.Page{Limit: 2})
	if err != nil {
		t.Fatal(err)
	}
	rest, err := w.Door().People().Members(t.Context(), store.Page{Limit: 2, Cursor: first.Next})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, m := range append(first.Items, rest.Items...) {
		got = append(got, m.Email)
	}
	if diff := cmp.Diff([]string{"a@x", "b@x", "c@x"}, got); diff != "" || rest.Next != "" {
		t.Errorf("members (-want +got):\n%s", diff)
	}
}

func TestAnAgentIsFoundChangedAndDeleted(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	a := w.Agent(t)
	a.Name, a.Enabled, a.Approval = "Renamed", false, connectors.ApprovalAuto
	changed, err := w.Door().Agents().Update(t.Context(), a)
	if err != nil {
		t.Fatal(err)
	}
	got, err := w.Door().Agents().Get(t.Context(), connectors.Ref(a.Slug))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(changed, got); diff != "" || got.Name != "Renamed" || got.Enabled {
		t.Errorf("agent (-updated +read):\n%s", diff)
	}
	_, err = w.Door().Agents().Create(t.Context(), a)
	wantField(t, err, fault.Conflict, "slug")

	c := w.Connector(t)
	w.Credential(t, c.ID, &a.ID, "token")
	start := w.Start(c.ID)
	start.AgentID = &a.ID
	run, err := w.Door().Syncs().Start(t.Context(), start)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Door().Agents().Delete(t.Context(), a.ID); err != nil {
		t.Fatal(err)
	}
	_, _, err = w.St.Vault(w.Tenant).Secret(t.Context(), c.ID, &a.ID)
	wantKind(t, err, fault.NotFound)
	if run, err = w.Door().Syncs().Get(t.Context(), run.ID); err != nil || run.AgentID != nil {
		t.Errorf("the run still names the agent: %v, %v", run.AgentID, err)
	}
}

func TestAKeyIsRevokedOnceAndForGood(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	k := w.APIKey(t, connectors.RoleMember)
	for range 2 {
		if err := w.Door().People().RevokeAPIKey(t.Context(), k.ID); err != nil {
			t.Fatal(err)
		}
	}
	stored, err := w.St.System().People().APIKey(t.Context(), k.ID)
	if err != nil {
		t.Fatal(err)
	}
	if stored.Key.RevokedAt == nil || stored.Tenant.ID != w.Tenant || string(stored.SecretMAC) != "mac" {
		t.Errorf("stored key = %+v", stored)
	}
	list, err := w.Door().People().APIKeys(t.Context(), store.Page{})
	if err != nil || len(list.Items) != 1 || list.Items[0].RevokedAt == nil {
		t.Errorf("keys = %+v, %v", list, err)
	}
}

func TestAUseOfAKeyIsWrittenOnceAMinute(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	k := w.APIKey(t, connectors.RoleMember)
	used := func() connectors.APIKey {
		t.Helper()
		if err := w.St.System().People().TouchAPIKey(t.Context(), k.ID); err != nil {
			t.Fatal(err)
		}
		stored, err := w.St.System().People().APIKey(t.Context(), k.ID)
		if err != nil || stored.Key.LastUsedAt == nil {
			t.Fatalf("last used %v, %v", stored.Key.LastUsedAt, err)
		}
		return stored.Key
	}
	if first, second := used(), used(); !first.LastUsedAt.Equal(*second.LastUsedAt) {
		t.Errorf("written at %v and at %v", first.LastUsedAt, second.LastUsedAt)
	}
}
