package auth_test

import (
	"testing"
	"time"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
)

func TestOwnersManageMembers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Member(t, connectors.RoleOwner)
	owner := w.owner(t)
	m, err := w.auth.AddMember(t.Context(), owner, auth.Person{
		Email: "Bo@Example.com", Name: "Bo", Password: password, Role: connectors.RoleViewer,
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.auth.SignIn(t.Context(), "bo@example.com", password, "192.0.2.1"); err != nil {
		t.Errorf("the new member signs in: %v", err)
	}
	_, err = w.auth.AddMember(t.Context(), owner, auth.Person{Email: "bo@example.com", Password: password, Role: connectors.RoleAdmin})
	wantKind(t, err, fault.Conflict)
	if err := w.auth.SetMemberRole(t.Context(), owner, m.UserID, connectors.RoleAdmin); err != nil {
		t.Error(err)
	}
	wantKind(t, w.auth.SetMemberRole(t.Context(), owner, m.UserID, "root"), fault.Invalid)
	if err := w.auth.RemoveMember(t.Context(), owner, m.UserID); err != nil {
		t.Error(err)
	}
	wantKind(t, w.auth.RemoveMember(t.Context(), owner, m.UserID), fault.NotFound)
}

func TestLastOwnerStays(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	last := w.Member(t, connectors.RoleOwner)
	wantKind(t, w.auth.RemoveMember(t.Context(), w.owner(t), last.UserID), fault.Conflict)
	wantKind(t, w.auth.SetMemberRole(t.Context(), w.owner(t), last.UserID, connectors.RoleAdmin), fault.Conflict)
}

func TestOnlyOwnersManageTheTenant(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	m := w.Member(t, connectors.RoleViewer)
	admin := w.owner(t)
	admin.Role = connectors.RoleAdmin
	ctx := t.Context()
	_, err := w.auth.AddMember(ctx, admin, auth.Person{Email: "x@example.com", Password: password, Role: connectors.RoleViewer})
	wantKind(t, err, fault.Denied)
	wantKind(t, w.auth.SetMemberRole(ctx, admin, m.UserID, connectors.RoleAdmin), fault.Denied)
	wantKind(t, w.auth.RemoveMember(ctx, admin, m.UserID), fault.Denied)
	wantKind(t, w.auth.RenameTenant(ctx, admin, "New"), fault.Denied)
	wantKind(t, w.auth.RevokeKey(ctx, admin, connectors.APIKeyID{}), fault.Denied)
}

func TestNamesAreOneLineOfText(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, name := range []string{"a\r\nb", "\x1b[31mred", "txt\u202eexe", "\u2066x"} {
		_, err := w.auth.AddMember(t.Context(), w.owner(t), auth.Person{Email: "bo@example.com", Name: name, Password: password, Role: connectors.RoleViewer})
		wantKind(t, err, fault.Invalid)
		_, _, err = w.auth.IssueKey(t.Context(), w.owner(t), auth.KeyRequest{Name: name, Role: connectors.RoleViewer})
		wantKind(t, err, fault.Invalid)
		wantKind(t, w.auth.RenameTenant(t.Context(), w.owner(t), name), fault.Invalid)
	}
}

func TestRenameTenant(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if err := w.auth.RenameTenant(t.Context(), w.owner(t), " Umbrella "); err != nil {
		t.Fatal(err)
	}
	if self, err := w.Door().Self(t.Context()); err != nil || self.Name != "Umbrella" {
		t.Errorf("named %q, %v", self.Name, err)
	}
	wantKind(t, w.auth.RenameTenant(t.Context(), w.owner(t), " "), fault.Invalid)
}

func TestAChangeOfTheTenantIsWholeOrNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	name, history, timeout := "Umbrella", connectors.HistoryFull, time.Minute
	all := auth.TenantChange{Name: &name, CallHistory: &history, ApprovalTimeout: &timeout}
	for _, wrong := range []time.Duration{0, time.Second - 1, 24*time.Hour + 1} {
		half := all
		half.ApprovalTimeout = &wrong
		wantKind(t, w.auth.ChangeTenant(t.Context(), w.owner(t), half), fault.Invalid)
	}
	if self, err := w.Door().Self(t.Context()); err != nil || self.Name == name {
		t.Errorf("named %q, %v", self.Name, err)
	}
	if err := w.auth.ChangeTenant(t.Context(), w.owner(t), all); err != nil {
		t.Fatal(err)
	}
	self, err := w.Door().Self(t.Context())
	if err != nil || self.Name != name || self.CallHistory != history || self.ApprovalTimeout != timeout {
		t.Errorf("%+v, %v", self, err)
	}
	admin := w.owner(t)
	admin.Role = connectors.RoleAdmin
	wantKind(t, w.auth.ChangeTenant(t.Context(), admin, all), fault.Denied)
}
