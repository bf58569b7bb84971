package admin_test

import (
	"crypto/sha256"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"patchbay/internal/admin"
	"patchbay/internal/connectors"
	"patchbay/internal/mail"
	"patchbay/internal/mail/mailtest"
	"patchbay/internal/mailing"
	"patchbay/internal/store"
	"patchbay/internal/testing/htmlcheck"
)

// createInvitation creates an open invitation.
func (d *dashboard) createInvitation(tenant connectors.TenantID) connectors.InvitationID {
	d.t.Helper()
	id := uuid.Must(uuid.NewV7())
	sum := sha256.Sum256(id[:])
	i, err := d.St.Tenant(tenant).People().Invite(d.t.Context(), id.String()+"@example.com", connectors.RoleViewer,
		store.InvitationLink{TokenHash: sum[:], ExpiresAt: time.Now().Add(time.Hour), ByName: "Ada"})
	if err != nil {
		d.t.Fatal(err)
	}
	return i.ID
}

// findInvitationLink is the path of the invitation's link on a page, with its token.
func findInvitationLink(t *testing.T, p page) (path, token string) {
	t.Helper()
	_, rest, found := strings.Cut(p.Body, "/setup/invitation?token=")
	if !found {
		t.Fatalf("%d: no link on the page", p.Status)
	}
	token = rest[:strings.IndexFunc(rest, func(r rune) bool { return !strings.ContainsRune(tokenLetters, r) })]
	return "/setup/invitation?token=" + token, token
}

const tokenLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"

func TestInvitation_NewMemberJoins(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	owner := d.signInAsRole(connectors.RoleOwner)
	made := owner.post("/invitations", url.Values{"email": {"Grace@Example.com"}, "role": {"member"}})
	made.want(t, http.StatusOK, "Link for grace@example.com", "shown only once")
	path, token := findInvitationLink(t, made)
	if again := owner.get("/members"); again.says(token) || !again.says("Waiting") || !again.says("grace@example.com") {
		t.Error("the list repeats the link, or does not tell of the invitation")
	}

	visitor := d.browser()
	visitor.get(path).want(t, http.StatusOK, "Join Acme", "grace@example.com")
	form := url.Values{"token": {token}, "name": {"Grace"}, "password": {"short"}}
	visitor.post("/setup/invitation", form).want(t, http.StatusUnprocessableEntity, "Must be 10–200 characters.", "Grace")
	form.Set("password", password.Reveal())
	visitor.submit("/setup/invitation", form).want(t, http.StatusOK, "Welcome to Acme.", "Grace")

	owner.get("/members").want(t, http.StatusOK, "Grace")
	d.browser().get(path).want(t, http.StatusNotFound, "Invitation already used")
	d.browser().post("/setup/invitation", form).want(t, http.StatusNotFound, "Invitation already used")
	if strings.Contains(d.log.String(), token) {
		t.Error("the log holds the token")
	}
}

func TestInvitation_OffersASeparateAccount(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	other := d.MemberIn(t, d.Other, connectors.RoleOwner, func(m *store.NewMember) {
		m.PasswordHash = "$argon2id$v=19$m=65536,t=1,p=4$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
	})
	path, token := findInvitationLink(t, d.signInAsRole(connectors.RoleOwner).post("/invitations", url.Values{"email": {other.Email}, "role": {"member"}}))
	visitor := d.browser()
	if visitor.get(path).says("separate") {
		t.Error("the page tells of an account before a password was given")
	}
	form := url.Values{"token": {token}, "password": {password.Reveal()}}
	visitor.post("/setup/invitation", form).want(t, http.StatusUnprocessableEntity, "Enter the password of your existing account.", "Create separate account")
	form.Set("separate", "true")
	visitor.submit("/setup/invitation", form).want(t, http.StatusOK, "Welcome to Acme.")
}

func TestInvitation_DeadLinkIsExplained(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	owner := d.signInAsRole(connectors.RoleOwner)
	made := owner.post("/invitations", url.Values{"email": {"grace@example.com"}, "role": {"viewer"}})
	old, _ := findInvitationLink(t, made)
	list, err := d.Door().People().Invitations(t.Context(), store.Page{})
	if err != nil {
		t.Fatal(err)
	}
	action := "/invitations/" + list.Items[0].ID.String()
	link, _ := findInvitationLink(t, owner.post(action+"/send", nil))
	visitor := d.browser()
	visitor.get(old).want(t, http.StatusNotFound, "Invalid link", "the newest link")
	visitor.get(link).want(t, http.StatusOK)
	owner.submit(action+"/revoke", nil).want(t, http.StatusOK, "Invitation revoked.")
	visitor.get(link).want(t, http.StatusNotFound, "Invitation revoked")
	owner.post(action+"/send", nil).want(t, http.StatusNotFound)
	visitor.get("/setup/invitation").want(t, http.StatusNotFound, "Invalid link")
}

func TestInvitation_LinkIsEmailedIfTicked(t *testing.T) {
	t.Parallel()
	without := newDashboard(t, func(o *admin.Options) {
		o.Mailing = nil
	})
	if p := without.signInAsRole(connectors.RoleOwner).get("/members"); p.says("Email the link to them") {
		t.Error("e-mail is offered without a server for it")
	}
	smtp := mailtest.Start(t, mail.StartTLS)
	d := newDashboard(t, func(o *admin.Options) {
		o.Mailing = mailing.New(mailing.Options{Store: o.Store, Auth: o.Auth, Sender: smtp.Sender(), BaseURL: o.BaseURL})
	})
	owner := d.signInAsRole(connectors.RoleOwner)
	owner.get("/members").want(t, http.StatusOK, "Email the link to them", `name="mail"`)
	owner.post("/invitations", url.Values{"email": {"grace@example.com"}, "role": {"viewer"}}).want(t, http.StatusOK, "Send it to grace@example.com yourself.")
	if n := len(smtp.All()); n != 0 {
		t.Errorf("%d mails without the tick", n)
	}
	made := owner.post("/invitations", url.Values{"email": {"ada@example.com"}, "role": {"viewer"}, "mail": {"true"}})
	made.want(t, http.StatusOK, "Emailed to ada@example.com.")
	if _, token := findInvitationLink(t, made); len(smtp.All()) != 1 || !strings.Contains(smtp.All()[0].Text, token) {
		t.Errorf("%+v", smtp.All())
	}
	wrong := owner.post("/invitations", url.Values{"email": {"nobody"}, "role": {"viewer"}})
	if box, ok := htmlcheck.Parse(t, wrong.Body).Control("mail"); !ok || box.Has("checked") {
		t.Error("the tick is not kept as it was")
	}
}

func TestAnAddressIsRefusedBesideItsField(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	owner := d.signInAsRole(connectors.RoleOwner)
	m := d.createMember(connectors.RoleViewer)
	for email, want := range map[string]string{"nobody": "Enter an email address.", m.Email: "Already a member."} {
		p := owner.post("/invitations", url.Values{"email": {email}, "role": {"admin"}})
		if p.Status < 400 || !p.says(want) {
			t.Errorf("%s: %d, want %q", email, p.Status, want)
		}
	}
}

func TestInvitation_SignedInMemberJoinsWithOneButton(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	owner := d.signInAsRole(connectors.RoleOwner)
	person := d.MemberIn(t, d.Other, connectors.RoleOwner, d.withPassword())
	_, token := findInvitationLink(t, owner.post("/invitations", url.Values{"email": {person.Email}, "role": {"admin"}}))

	b := d.browser()
	b.signIn(person.Email)
	b.get("/setup/invitation?token="+token).want(t, http.StatusOK, "Join Acme")
	b.submit("/setup/invitation", url.Values{"token": {token}}).want(t, http.StatusOK, "Welcome to Acme.")
	m, err := d.Door().People().Member(t.Context(), person.UserID)
	if err != nil || m.Role != connectors.RoleAdmin {
		t.Errorf("member %+v, %v", m, err)
	}
}

func TestAnInvitationIsForItsAddressAlone(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	owner := d.signInAsRole(connectors.RoleOwner)
	path, token := findInvitationLink(t, owner.post("/invitations", url.Values{"email": {"grace@example.com"}, "role": {"admin"}}))
	b := d.signInAsRole(connectors.RoleViewer)
	b.get(path).want(t, http.StatusOK, "; the invitation is for grace@example.com", "Sign out and continue")
	b.post("/setup/invitation", url.Values{"token": {token}}).want(t, http.StatusConflict, "the invitation is for grace@example.com")
	if p := b.post("/setup/invitation", url.Values{"token": {token}, "sign_out": {"true"}}); p.Location != path {
		t.Errorf("signed out to %q", p.Location)
	}
	b.get(path).want(t, http.StatusOK, "Your name")
}
