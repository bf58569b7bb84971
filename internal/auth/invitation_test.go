package auth_test

import (
	"strings"
	"sync"
	"testing"
	"time"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/secret"
	"patchbay/internal/store"
)

const home = "192.0.2.7"

func (w world) invite(t *testing.T, email string, role connectors.Role) (connectors.Invitation, secret.Text) {
	t.Helper()
	i, token, err := w.auth.Invite(t.Context(), w.owner(t), email, role)
	if err != nil {
		t.Fatal(err)
	}
	return i, token
}

func (w world) accept(t *testing.T, token secret.Text, pw secret.Text) (connectors.Tenant, connectors.Member, error) {
	t.Helper()
	return w.auth.AcceptInvitation(t.Context(), token, auth.Person{Name: "Ada", Password: pw, Email: "eve@example.com", Role: connectors.RoleOwner}, home)
}

// refusedAs reports whether err is the fault of a link that opens nothing, for that reason.
func refusedAs(t *testing.T, err error, reason string) {
	t.Helper()
	if f := fault.As(err); f == nil || f.Kind != fault.NotFound || f.Type != reason {
		t.Errorf("%v, want not found because %s", err, reason)
	}
}

func TestAcceptInvitation_SetsPasswordAndRole(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	i, token := w.invite(t, " Ada@Example.com ", connectors.RoleMember)
	if got := i.ExpiresAt.Sub(w.clock.Now()).Round(time.Minute); got != 72*time.Hour {
		t.Errorf("the link opens for %v", got)
	}
	tenant, m, err := w.accept(t, token, password)
	if err != nil {
		t.Fatal(err)
	}
	if tenant.ID != w.Tenant || m.Email != "ada@example.com" || m.Role != connectors.RoleMember || m.Name != "Ada" {
		t.Errorf("member %+v of %s", m, tenant.Slug)
	}
	if _, err := w.auth.SignIn(t.Context(), "ada@example.com", password, home); err != nil {
		t.Errorf("sign in: %v", err)
	}
	_, _, err = w.accept(t, token, password)
	refusedAs(t, err, auth.TypeInvitationUsed)
	if acts := w.acts(t); !strings.HasSuffix(acts, "member.invite ada@example.com, member.join ada@example.com") {
		t.Errorf("audit log: %s", acts)
	}
}

func TestALinkOpensFor72Hours(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, token := w.invite(t, "ada@example.com", connectors.RoleMember)
	w.clock.forward(72*time.Hour - time.Minute)
	if _, err := w.auth.Invitation(t.Context(), token, home); err != nil {
		t.Errorf("a minute before: %v", err)
	}
	w.clock.forward(time.Minute)
	_, err := w.auth.Invitation(t.Context(), token, home)
	refusedAs(t, err, auth.TypeInvitationLapsed)
	_, _, err = w.accept(t, token, password)
	refusedAs(t, err, auth.TypeInvitationLapsed)
}

func TestSendInvitation_RenewsLinkAndExpiry(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	i, first := w.invite(t, "ada@example.com", connectors.RoleMember)
	w.clock.forward(100 * time.Hour)
	again, second, err := w.auth.SendInvitation(t.Context(), w.owner(t), i.ID)
	if err != nil || again.ID != i.ID || first == second {
		t.Fatalf("sent again: %+v, %v", again, err)
	}
	_, err = w.auth.Invitation(t.Context(), first, home)
	refusedAs(t, err, auth.TypeInvitationUnknown)
	if _, err := w.auth.Invitation(t.Context(), second, home); err != nil {
		t.Errorf("the new link: %v", err)
	}
}

func TestRevokeInvitation_LinkStopsWorking(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	i, token := w.invite(t, "ada@example.com", connectors.RoleMember)
	if err := w.auth.RevokeInvitation(t.Context(), w.owner(t), i.ID); err != nil {
		t.Fatal(err)
	}
	_, _, err := w.accept(t, token, password)
	refusedAs(t, err, auth.TypeInvitationRevoked)
}

func TestAcceptInvitation_ExistingAccountNeedsPassword(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	known := w.elsewhere(t, "ada@example.com")
	_, token := w.invite(t, known.Email, connectors.RoleAdmin)

	_, _, err := w.accept(t, token, "another password")
	wantKind(t, err, fault.Invalid)
	_, m, err := w.accept(t, token, password)
	if err != nil || m.UserID != known.UserID || m.Name != known.Name {
		t.Errorf("member %+v, %v", m, err)
	}
}

func TestAcceptInvitation_FailuresCount(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	known := w.elsewhere(t, "ada@example.com")
	_, token := w.invite(t, known.Email, connectors.RoleAdmin)
	for range 10 {
		_, _, err := w.accept(t, token, "another password")
		wantKind(t, err, fault.Invalid)
	}
	_, _, err := w.accept(t, token, password)
	wantKind(t, err, fault.RateLimited)
}

func TestJoinAs_RequiresInvitedAddress(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	known := w.elsewhere(t, "ada@example.com")
	_, token := w.invite(t, known.Email, connectors.RoleAdmin)

	eve := auth.Actor{Kind: auth.KindPerson, UserID: &known.UserID, Email: "eve@example.com"}
	_, _, err := w.auth.JoinAs(t.Context(), eve, token, home)
	if f := fault.As(err); f == nil || f.Type != auth.TypeInvitationAddress {
		t.Errorf("another address: %v", err)
	}
	ada := auth.Actor{Kind: auth.KindPerson, UserID: &known.UserID, Email: known.Email}
	tenant, m, err := w.auth.JoinAs(t.Context(), ada, token, home)
	if err != nil || tenant.ID != w.Tenant || m.UserID != known.UserID || m.Role != connectors.RoleAdmin {
		t.Errorf("member %+v, %v", m, err)
	}
	if _, err := w.auth.SignIn(t.Context(), known.Email, password, home); err != nil {
		t.Errorf("the password was changed: %v", err)
	}
}

func TestInvite_DoesNotRevealAccounts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	known := w.elsewhere(t, "known@example.com")
	var seen []auth.OpenInvitation
	for _, email := range []string{known.Email, "unknown@example.com"} {
		_, token := w.invite(t, email, connectors.RoleViewer)
		i, err := w.auth.Invitation(t.Context(), token, home)
		if err != nil {
			t.Fatal(err)
		}
		i.ID, i.Email, i.CreatedAt, i.SentAt, i.ExpiresAt = connectors.InvitationID{}, "", time.Time{}, time.Time{}, time.Time{}
		seen = append(seen, i)
	}
	if seen[0].Invitation != seen[1].Invitation {
		t.Errorf("known %+v, unknown %+v", seen[0], seen[1])
	}
}

func TestInvitation_UnknownTokensAreLimited(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, token := w.invite(t, "ada@example.com", connectors.RoleViewer)
	m := w.person(t, connectors.RoleViewer)
	for range 10 {
		_, err := w.auth.Invitation(t.Context(), "guess", home)
		refusedAs(t, err, auth.TypeInvitationUnknown)
	}
	_, err := w.auth.Invitation(t.Context(), token, home)
	wantKind(t, err, fault.RateLimited)
	if _, err := w.auth.Invitation(t.Context(), token, "192.0.2.8"); err != nil {
		t.Errorf("from elsewhere: %v", err)
	}
	if _, err := w.auth.SignIn(t.Context(), m.Email, password, home); err != nil {
		t.Errorf("whoever signs in is held up: %v", err)
	}
}

func TestOnlyOwnersInvite(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	i, _ := w.invite(t, "ada@example.com", connectors.RoleViewer)
	admin := w.owner(t)
	admin.Role = connectors.RoleAdmin
	_, _, err := w.auth.Invite(t.Context(), admin, "eve@example.com", connectors.RoleViewer)
	wantKind(t, err, fault.Denied)
	_, _, err = w.auth.SendInvitation(t.Context(), admin, i.ID)
	wantKind(t, err, fault.Denied)
	wantKind(t, w.auth.RevokeInvitation(t.Context(), admin, i.ID), fault.Denied)
	_, _, err = w.auth.Invite(t.Context(), w.owner(t), "Ada <ada@example.com>", "king")
	if f := fault.As(err); f == nil || len(f.Fields) != 2 {
		t.Errorf("neither an address nor a role: %v", err)
	}
}

func TestARevokedKeyHasInvitedNobody(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	key, text, err := w.auth.IssueKey(t.Context(), w.owner(t), auth.KeyRequest{Name: "leaked", Role: connectors.RoleOwner})
	if err != nil {
		t.Fatal(err)
	}
	program, err := w.auth.FromBearer(t.Context(), "Bearer "+text.Reveal())
	if err != nil {
		t.Fatal(err)
	}
	_, token, err := w.auth.Invite(t.Context(), program, "eve@example.com", connectors.RoleOwner)
	if err != nil {
		t.Fatal(err)
	}
	_, ours := w.invite(t, "ada@example.com", connectors.RoleViewer)
	if err := w.auth.RevokeKey(t.Context(), w.owner(t), key.ID); err != nil {
		t.Fatal(err)
	}
	_, _, err = w.accept(t, token, password)
	refusedAs(t, err, auth.TypeInvitationRevoked)
	if _, err := w.auth.Invitation(t.Context(), ours, home); err != nil {
		t.Errorf("the invitation of a person: %v", err)
	}
}

func TestOfTwoWhoAcceptTogetherOneJoins(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, token := w.invite(t, "ada@example.com", connectors.RoleViewer)
	results := make([]error, 2)
	var wg sync.WaitGroup
	for n, pw := range []secret.Text{"the first password", "the second password"} {
		wg.Go(func() { _, _, results[n] = w.accept(t, token, pw) })
	}
	wg.Wait()
	if (results[0] == nil) == (results[1] == nil) {
		t.Errorf("%v and %v", results[0], results[1])
	}
}

func TestUseOfTheDashboardIsNoted(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	m := w.person(t, connectors.RoleViewer)
	w.signedIn(t, m.UserID)
	m, err := w.Door().People().Member(t.Context(), m.UserID)
	if err != nil || m.Seen == nil {
		t.Errorf("seen %v, %v", m.Seen, err)
	}
}

// elsewhere makes a member of the other tenant with a password.
func (w world) elsewhere(t *testing.T, email string) connectors.Member {
	t.Helper()
	hash, err := w.auth.HashPassword(t.Context(), email, password)
	if err != nil {
		t.Fatal(err)
	}
	return w.MemberIn(t, w.Other, connectors.RoleOwner, func(m *store.NewMember) { m.Email, m.PasswordHash, m.Name = email, hash, "Ada Elsewhere" })
}

// acts are the acts of the audit log, the oldest first.
func (w world) acts(t *testing.T) string {
	t.Helper()
	events, err := w.Door().Audit().List(t.Context(), store.AuditFilter{})
	if err != nil {
		t.Fatal(err)
	}
	var acts []string
	for i := range events.Items {
		e := events.Items[len(events.Items)-1-i]
		acts = append(acts, e.Action+" "+e.Target)
	}
	return strings.Join(acts, ", ")
}
