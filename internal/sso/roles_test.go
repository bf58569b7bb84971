package sso_test

import (
	"testing"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/sso"
	"patchbay/internal/store"
)

func inGroups(email, subject string, groups ...string) lies {
	return lies{person: map[string]any{"sub": subject, "email": email, "email_verified": true, "groups": append([]string{}, groups...)}}
}

func TestGroupsGiveTheRoleAtEachSignIn(t *testing.T) {
	t.Parallel()
	w := newOffice(t)
	w.on(w.owner, "acme.example")
	for _, step := range []struct {
		groups []string
		want   connectors.Role
	}{
		{[]string{"engineers"}, connectors.RoleMember}, {[]string{"engineers", "admins"}, connectors.RoleAdmin}, {[]string{"engineers"}, connectors.RoleMember},
	} {
		w.idp.lie(inGroups("ada@acme.example", "ada-1", step.groups...))
		if m := w.comes("ada@acme.example"); m.Role != step.want {
			t.Errorf("%v: %s", step.groups, m.Role)
		}
	}
	if n := len(w.events("member.role")); n != 2 {
		t.Errorf("%d changes of roles are recorded", n)
	}
	m, err := w.Door().SSO().MemberByEmail(t.Context(), "ada@acme.example")
	if err != nil {
		t.Fatal(err)
	}
	w.idp.lie(inGroups("ada@acme.example", "ada-1", "sales"))
	_, err = w.signIn("ada@acme.example")
	refused(t, err, "sso-no-group")
	if _, err := w.Door().People().Member(t.Context(), m.UserID); !fault.Is(err, fault.NotFound) {
		t.Errorf("in no group, and still a member: %v", err)
	}
	if len(w.events("member.remove")) != 1 {
		t.Error("the end of the membership is not recorded")
	}
}

func TestTheLastOwnerStaysOneWhateverTheGroups(t *testing.T) {
	t.Parallel()
	w := newOffice(t)
	w.on(w.owner, "acme.example")
	w.rename(*w.owner.UserID, "grace@acme.example")
	w.idp.lie(inGroups("grace@acme.example", "grace-1", "engineers"))
	if m := w.comes("grace@acme.example"); m.UserID != *w.owner.UserID || m.Role != connectors.RoleOwner {
		t.Errorf("%+v", m)
	}
	w.idp.lie(inGroups("grace@acme.example", "grace-1"))
	_, err := w.signIn("grace@acme.example")
	refused(t, err, "sso-no-group")
	if m, err := w.Door().People().Member(t.Context(), *w.owner.UserID); err != nil || m.Role != connectors.RoleOwner {
		t.Errorf("%+v, %v", m, err)
	}
	second := w.Member(t, connectors.RoleOwner, func(n *store.NewMember) { n.Email = "second@acme.example" })
	w.idp.lie(inGroups("second@acme.example", "second-1", "engineers"))
	if m := w.comes("second@acme.example"); m.UserID != second.UserID || m.Role != connectors.RoleMember {
		t.Errorf("one of two owners: %+v", m)
	}
}

func TestTheOwnerWithThePasswordKeepsTheRole(t *testing.T) {
	t.Parallel()
	w := newOffice(t)
	w.Member(t, connectors.RoleOwner)
	w.on(w.owner, "acme.example")
	w.save(w.owner, sso.Change{Enforced: new(true), BreakGlass: w.owner.UserID})
	w.rename(*w.owner.UserID, "grace@acme.example")
	w.idp.lie(inGroups("grace@acme.example", "grace-1", "engineers"))
	if m := w.comes("grace@acme.example"); m.Role != connectors.RoleOwner {
		t.Errorf("%+v", m)
	}
	_, removed := w.Door().People().RemoveMember(t.Context(), *w.owner.UserID)
	for what, err := range map[string]error{
		"demoted": w.Door().People().SetRole(t.Context(), *w.owner.UserID, connectors.RoleViewer),
		"removed": removed,
	} {
		if f := fault.As(err); f == nil || f.Type != "break-glass" {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// A break-glass owner chosen before passwords were refused is none after they are allowed again.
func TestBreakGlass_MayLeaveWhilePasswordsWork(t *testing.T) {
	t.Parallel()
	w := newOffice(t)
	chosen := w.Member(t, connectors.RoleOwner, func(n *store.NewMember) { n.PasswordHash = "$argon2id$hash" })
	w.on(w.owner, "acme.example")
	w.save(w.owner, sso.Change{Enforced: new(false), BreakGlass: &chosen.UserID})
	if _, err := w.Door().People().RemoveMember(t.Context(), chosen.UserID); err != nil {
		t.Errorf("removed: %v", err)
	}
	if now, err := w.Door().SSO().Get(t.Context()); err != nil || now.BreakGlass != nil || !now.Enabled {
		t.Errorf("%+v, %v", now, err)
	}
	if _, err := w.sso.Save(t.Context(), w.owner, sso.Change{Enforced: new(true)}); err == nil {
		t.Error("passwords are refused, and nobody is chosen")
	}
}

func TestRoles_WithoutGroupsKeepOrDefault(t *testing.T) {
	t.Parallel()
	w := newOffice(t)
	w.on(w.owner, "acme.example", func(c *sso.Change) {
		c.Groups, c.DefaultRole = &[]connectors.GroupRole{}, new(connectors.RoleViewer)
	})
	if m := w.comes("ada@acme.example"); m.Role != connectors.RoleViewer {
		t.Errorf("%+v", m)
	}
	w.Member(t, connectors.RoleAdmin, func(n *store.NewMember) { n.Email = "grace@acme.example" })
	w.idp.lie(inGroups("grace@acme.example", "grace-1"))
	if m := w.comes("grace@acme.example"); m.Role != connectors.RoleAdmin {
		t.Errorf("%+v", m)
	}
}

func TestAdmit_MembersOnly(t *testing.T) {
	t.Parallel()
	w := newOffice(t)
	w.on(w.owner, "acme.example", func(c *sso.Change) { c.Joins = new(false) })
	_, err := w.signIn("ada@acme.example")
	refused(t, err, "sso-no-member")
	m := w.Member(t, connectors.RoleViewer, func(n *store.NewMember) { n.Email = "ada@acme.example" })
	if came := w.comes("ada@acme.example"); came.UserID != m.UserID || came.Role != connectors.RoleMember {
		t.Errorf("%+v", came)
	}
}

// rename gives a person another address.
func (w *office) rename(user connectors.UserID, email string) {
	w.t.Helper()
	w.AsOwner(w.t, "update users set email = '"+email+"' where id = '"+user.String()+"'")
}
