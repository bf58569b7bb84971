package store_test

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/store"
	"patchbay/internal/testing/fixture"
)

func anyInvitation(connectors.Invitation) error { return nil }

func joined(_ connectors.Tenant, m connectors.Member) store.Event {
	return store.Event{ActorType: "person", Action: "member.join", Target: m.Email}
}

func TestAnInvitationHasOneLinkAtATime(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	made, err := w.Door().People().Invite(t.Context(), "Ada@Example.com", connectors.RoleAdmin, linkOf("first"))
	if err != nil {
		t.Fatal(err)
	}
	if made.Email != "ada@example.com" || made.Role != connectors.RoleAdmin || made.InvitedBy != "Ada" || made.Sends != 1 {
		t.Errorf("invitation %+v", made)
	}
	again, err := w.Door().People().SendInvitation(t.Context(), made.ID, linkOf("second"))
	if err != nil || again.Sends != 2 {
		t.Fatalf("sent again: %+v, %v", again, err)
	}
	_, _, err = w.St.System().People().Invitation(t.Context(), linkOf("first").TokenHash)
	wantKind(t, err, fault.NotFound)
	tenant, found, err := w.St.System().People().Invitation(t.Context(), linkOf("second").TokenHash)
	if err != nil || tenant.ID != w.Tenant {
		t.Fatalf("found in %v: %v", tenant.Slug, err)
	}
	if diff := cmp.Diff(again, found); diff != "" {
		t.Errorf("found (-sent +found):\n%s", diff)
	}
}

func TestAnAddressIsInvitedOnceAtATime(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	member := w.Member(t, connectors.RoleViewer)
	first, err := w.Door().People().Invite(t.Context(), "ada@example.com", connectors.RoleViewer, linkOf("1"))
	if err != nil {
		t.Fatal(err)
	}
	_, err = w.Door().People().Invite(t.Context(), "ADA@example.com", connectors.RoleOwner, linkOf("2"))
	wantField(t, err, fault.Conflict, "email")
	_, err = w.Door().People().Invite(t.Context(), member.Email, connectors.RoleOwner, linkOf("3"))
	wantField(t, err, fault.Conflict, "email")
	_, err = w.Door().People().Invite(t.Context(), "nobody", connectors.RoleOwner, linkOf("4"))
	wantField(t, err, fault.Invalid, "email")

	if _, err := w.Door().People().RevokeInvitation(t.Context(), first.ID); err != nil {
		t.Fatal(err)
	}
	_, err = w.Door().People().RevokeInvitation(t.Context(), first.ID)
	wantKind(t, err, fault.NotFound)
	_, err = w.Door().People().SendInvitation(t.Context(), first.ID, linkOf("5"))
	wantKind(t, err, fault.NotFound)
	if _, err = w.Door().People().Invite(t.Context(), "ada@example.com", connectors.RoleViewer, linkOf("6")); err != nil {
		t.Errorf("after it was taken back: %v", err)
	}
	open, err := w.Door().People().Invitations(t.Context(), store.Page{})
	if err != nil || len(open.Items) != 1 {
		t.Errorf("open: %+v, %v", open.Items, err)
	}
}

func TestOfTwoWhoUseOneLinkTogetherOneJoins(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	if _, err := w.Door().People().Invite(t.Context(), "ada@example.com", connectors.RoleMember, linkOf("one")); err != nil {
		t.Fatal(err)
	}
	used := errors.New("used")
	unused := func(i connectors.Invitation) error {
		if i.State(time.Now()) != connectors.InvitationWaiting {
			return used
		}
		return nil
	}
	var joins, refusals atomic.Int64
	var wg sync.WaitGroup
	for _, name := range []string{"Ada", "Eve"} {
		wg.Go(func() {
			_, _, err := w.St.System().People().TakeInvitation(t.Context(), linkOf("one").TokenHash, store.NewMember{Name: name, PasswordHash: name}, unused, joined)
			switch {
			case err == nil:
				joins.Add(1)
			case errors.Is(err, used):
				refusals.Add(1)
			default:
				t.Errorf("%s: %v", name, err)
			}
		})
	}
	wg.Wait()
	if joins.Load() != 1 || refusals.Load() != 1 {
		t.Errorf("%d joined, %d found it used", joins.Load(), refusals.Load())
	}
	members, err := w.Door().People().Members(t.Context(), store.Page{})
	if err != nil || len(members.Items) != 1 || members.Items[0].Role != connectors.RoleMember {
		t.Errorf("members %+v, %v", members.Items, err)
	}
}

func TestAnInvitationThatIsRefusedStaysAsItWas(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	known := w.MemberIn(t, w.Other, connectors.RoleOwner)
	if _, err := w.Door().People().Invite(t.Context(), known.Email, connectors.RoleMember, linkOf("one")); err != nil {
		t.Fatal(err)
	}
	_, _, err := w.St.System().People().TakeInvitation(t.Context(), linkOf("one").TokenHash, store.NewMember{PasswordHash: "new", OnlyNew: true}, anyInvitation, joined)
	wantKind(t, err, fault.Conflict)
	tenant, member, err := w.St.System().People().TakeInvitation(t.Context(), linkOf("one").TokenHash, store.NewMember{}, anyInvitation, joined)
	if err != nil || tenant.ID != w.Tenant || member.UserID != known.UserID {
		t.Errorf("then: %+v in %s, %v", member, tenant.Slug, err)
	}
}

func TestWhoMayInviteNoMoreHasInvitedNobody(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		end  func(d *store.Tenant, id connectors.UserID) error
	}{
		{"removed", func(d *store.Tenant, id connectors.UserID) error {
			_, err := d.People().RemoveMember(t.Context(), id)
			return err
		}},
		{"made an admin", func(d *store.Tenant, id connectors.UserID) error {
			return d.People().SetRole(t.Context(), id, connectors.RoleAdmin)
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := fixture.New(t)
			leaver, stays := w.Member(t, connectors.RoleOwner), w.Member(t, connectors.RoleOwner)
			for i, by := range []connectors.Member{leaver, stays} {
				link := linkOf(by.Email)
				link.By = &by.UserID.UUID
				if _, err := w.Door().People().Invite(t.Context(), []string{"a@x", "b@x"}[i], connectors.RoleOwner, link); err != nil {
					t.Fatal(err)
				}
			}
			if err := tt.end(w.Door(), leaver.UserID); err != nil {
				t.Fatal(err)
			}
			open, err := w.Door().People().Invitations(t.Context(), store.Page{})
			if err != nil || len(open.Items) != 1 || open.Items[0].Email != "b@x" {
				t.Errorf("open: %+v, %v", open.Items, err)
			}
		})
	}
}

func TestWhoIsAddedNeedsNoInvitation(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	if _, err := w.Door().People().Invite(t.Context(), "ada@example.com", connectors.RoleMember, linkOf("one")); err != nil {
		t.Fatal(err)
	}
	w.Member(t, connectors.RoleViewer, func(m *store.NewMember) { m.Email = "Ada@example.com" })
	_, i, err := w.St.System().People().Invitation(t.Context(), linkOf("one").TokenHash)
	if err != nil || i.RevokedAt == nil {
		t.Errorf("invitation %+v, %v", i, err)
	}
}

func TestMarkDashboardUsed_OneTenantOnly(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	m := w.Member(t, connectors.RoleViewer, func(m *store.NewMember) { m.Email = "ada@example.com" })
	w.MemberIn(t, w.Other, connectors.RoleViewer, func(m *store.NewMember) { m.Email = "ada@example.com" })
	if err := w.St.System().People().MarkDashboardUsed(t.Context(), m.UserID, w.Tenant); err != nil {
		t.Fatal(err)
	}
	here, err := w.Door().People().Member(t.Context(), m.UserID)
	if err != nil || here.Seen == nil {
		t.Errorf("here: %v, %v", here.Seen, err)
	}
	there, err := w.OtherDoor().People().Member(t.Context(), m.UserID)
	if err != nil || there.Seen != nil {
		t.Errorf("there: %v, %v", there.Seen, err)
	}
}
