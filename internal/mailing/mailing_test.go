package mailing_test

import (
	"context"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/alexedwards/argon2id"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/mail"
	"patchbay/internal/mail/mailtest"
	"patchbay/internal/mailing"
	"patchbay/internal/secret"
	"patchbay/internal/store"
	"patchbay/internal/testing/fixture"
)

const password = secret.Text("correct horse battery")

type world struct {
	*fixture.World
	auth    *auth.Service
	mailing *mailing.Service
	smtp    *mailtest.Server
}

func newWorld(t *testing.T) world {
	t.Helper()
	w := world{World: fixture.New(t), smtp: mailtest.Start(t, mail.StartTLS)}
	cheap := argon2id.Params{Memory: 64, Iterations: 1, Parallelism: 1, SaltLength: 16, KeyLength: 32}
	w.auth = auth.New(auth.Options{Store: w.St, PasswordCost: &cheap})
	w.mailing = mailing.New(mailing.Options{Store: w.St, Auth: w.auth, Sender: w.smtp.Sender(), BaseURL: "https://patchbay.example.com"})
	return w
}

func (w world) person(t *testing.T, role connectors.Role) connectors.Member {
	t.Helper()
	hash, err := w.auth.HashPassword(t.Context(), "ada@example.com", password)
	if err != nil {
		t.Fatal(err)
	}
	return w.Member(t, role, func(m *store.NewMember) { m.PasswordHash = hash })
}

// choose stores what a member is sent.
func (w world) choose(t *testing.T, m connectors.Member, choice connectors.MailChoice, language string) {
	t.Helper()
	if err := w.Door().People().SetMailPreference(t.Context(), m.UserID, choice, language); err != nil {
		t.Fatal(err)
	}
}

func (w world) notice(t *testing.T, n store.NewNotice) {
	t.Helper()
	if err := w.Door().People().AddNotice(t.Context(), n); err != nil {
		t.Fatal(err)
	}
}

func wantMails(t *testing.T, w world, n int) []mailtest.Received {
	t.Helper()
	all := w.smtp.All()
	if len(all) != n {
		t.Fatalf("%d mails, want %d: %+v", len(all), n, all)
	}
	return all
}

func TestSendNews_WritesOnceAboutWhatIsUnread(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	m := w.person(t, connectors.RoleAdmin)
	w.choose(t, m, connectors.MailAll, "de")
	began := time.Now().Add(-time.Minute)
	w.notice(t, store.NewNotice{Kind: connectors.NoticeToolsVanished, Title: "Linear lost tools", Body: "b", Link: "/connectors/linear"})
	w.notice(t, store.NewNotice{Kind: connectors.NoticeRecovered, Title: "Linear works again"})
	w.notice(t, store.NewNotice{Kind: connectors.NoticeApproval, Title: "Support bot asks to call x", Link: "/approvals/018f0000-0000-7000-8000-000000000000"}) // decided
	if err := w.mailing.SendNews(t.Context(), w.Tenant, m.UserID, began); err != nil {
		t.Fatal(err)
	}
	got := wantMails(t, w, 1)[0]
	if got.To != m.Email || got.Subject() != "Linear lost tools" || !strings.Contains(got.Text, "https://patchbay.example.com/connectors/linear") ||
		!strings.Contains(got.Text, "/account#email") || strings.Contains(got.Text, "works again") || strings.Contains(got.Text, "asks to call") {
		t.Errorf("%s\n%s", got.Subject(), got.Text)
	}
	if !strings.Contains(got.Text, "ändern") && !strings.Contains(got.Text, "Ändern") {
		t.Errorf("not in the language of the member: %s", got.Text)
	}
	if _, err := w.Door().People().ReadNotices(t.Context(), m.UserID); err != nil {
		t.Fatal(err)
	}
	for name, send := range map[string]func() error{
		"read":    func() error { return w.mailing.SendNews(t.Context(), w.Tenant, m.UserID, began) },
		"no news": func() error { return w.mailing.SendNews(t.Context(), w.Tenant, m.UserID, time.Now().Add(time.Hour)) },
		"left": func() error {
			return w.mailing.SendNews(t.Context(), w.Tenant, connectors.UserID{UUID: w.Tenant.UUID}, began)
		},
	} {
		if err := send(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		wantMails(t, w, 1)
	}
}

func TestQueueNews_OnceInFiveMinutesForThoseWhoChoseIt(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	all, approvals := w.person(t, connectors.RoleAdmin), w.Member(t, connectors.RoleMember)
	none, viewer := w.Member(t, connectors.RoleAdmin), w.Member(t, connectors.RoleViewer)
	w.choose(t, all, connectors.MailAll, "en")
	w.choose(t, approvals, connectors.MailApprovals, "en")
	w.choose(t, viewer, connectors.MailAll, "en")
	w.AsSystem(t, "update memberships set mailed_at = now() - interval '6 minutes' where mail <> 'none'", nil)
	w.notice(t, store.NewNotice{Kind: connectors.NoticeDown, Title: "Linear is down"})
	queued := func() (people []string) {
		if err := w.mailing.QueueNews(t.Context()); err != nil {
			t.Fatal(err)
		}
		rows, err := w.Pool.Query(t.Context(), "select args ->> 'user_id' from river_job where kind = 'mail_member' order by id")
		if err != nil {
			t.Fatal(err)
		}
		defer rows.Close()
		for rows.Next() {
			var id string
			if err := rows.Scan(&id); err != nil {
				t.Fatal(err)
			}
			people = append(people, id)
		}
		return people
	}
	if got := queued(); len(got) != 1 || got[0] != all.UserID.String() {
		t.Fatalf("queued for %v, want %v and neither %v nor %v", got, all.UserID, none.UserID, viewer.UserID)
	}
	w.notice(t, store.NewNotice{Kind: connectors.NoticeApproval, Title: "Support bot asks to call x"})
	if got := queued(); len(got) != 2 || got[1] != approvals.UserID.String() {
		t.Errorf("queued for %v", got)
	}
	if got := queued(); len(got) != 2 {
		t.Errorf("queued again: %v", got)
	}
	w.AsSystem(t, "update memberships set mailed_at = mailed_at - interval '6 minutes' where mail <> 'none'", nil)
	if got := queued(); len(got) < 3 {
		t.Errorf("not queued after the pause: %v", got)
	}
}

// The first mail after a choice does not wait. Another choice does not repeat it.
func TestQueueNews_FirstMailDoesNotWait(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	m := w.person(t, connectors.RoleAdmin)
	queued := func() (n int) {
		if err := w.mailing.QueueNews(t.Context()); err != nil {
			t.Fatal(err)
		}
		w.AsSystem(t, "select count(*) from river_job where kind = 'mail_member'", nil, &n)
		return n
	}
	w.choose(t, m, connectors.MailApprovals, "en")
	w.notice(t, store.NewNotice{Kind: connectors.NoticeApproval, Title: "Support bot asks to call x"})
	if n := queued(); n != 1 {
		t.Errorf("%d mails are queued, want 1", n)
	}
	w.choose(t, m, connectors.MailAll, "en")
	if n := queued(); n != 1 {
		t.Errorf("%d mails are queued after another choice, want 1", n)
	}
}

var link = regexp.MustCompile(`https://patchbay\.example\.com(/reset\?token=\S+)`)

func (w world) token(t *testing.T, text string) secret.Text {
	t.Helper()
	found := link.FindStringSubmatch(text)
	if found == nil {
		t.Fatalf("no link in %s", text)
	}
	u, err := url.Parse(found[1])
	if err != nil {
		t.Fatal(err)
	}
	return secret.Text(u.Query().Get("token"))
}

func TestSendResets_ThenANewPasswordSignsIn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	m, ctx := w.person(t, connectors.RoleMember), t.Context()
	if err := w.mailing.SendResets(ctx, m.Email, "en"); err != nil {
		t.Fatal(err)
	}
	first := w.token(t, wantMails(t, w, 1)[0].Text)
	if err := w.mailing.SendResets(ctx, strings.ToUpper(m.Email), "en"); err != nil {
		t.Fatal(err)
	}
	token := w.token(t, wantMails(t, w, 2)[1].Text)
	wantKind(t, w.auth.ResetPassword(ctx, first, "a new password", "192.0.2.1"), fault.NotFound) // a newer one took its place
	wantKind(t, w.auth.ResetPassword(ctx, token, "short", "192.0.2.1"), fault.Invalid)
	if err := w.auth.ResetPassword(ctx, token, "a new password", "192.0.2.1"); err != nil {
		t.Fatal(err)
	}
	wantKind(t, w.auth.ResetPassword(ctx, token, "another password", "192.0.2.1"), fault.NotFound)
	if _, err := w.auth.SignIn(ctx, m.Email, "a new password", "192.0.2.1"); err != nil {
		t.Error(err)
	}
	_, err := w.auth.SignIn(ctx, m.Email, password, "192.0.2.1")
	wantKind(t, err, fault.Unauthenticated)
	var events int
	w.AsSystem(t, "select count(*) from audit_events where action = 'account.password_reset'", nil, &events)
	if events != 1 {
		t.Errorf("%d audit entries", events)
	}
}

func TestSendResets_EndWhenThePasswordChanges(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	m := w.person(t, connectors.RoleMember)
	if err := w.mailing.SendResets(t.Context(), m.Email, "en"); err != nil {
		t.Fatal(err)
	}
	err := w.St.System().People().ChangePassword(t.Context(), m.UserID, "hash", connectors.SessionID{}, w.Tenant, store.Event{ActorType: "user", ActorName: "Ada", Action: "account.password"})
	if err != nil {
		t.Fatal(err)
	}
	wantKind(t, w.auth.ResetPassword(t.Context(), w.token(t, wantMails(t, w, 1)[0].Text), "a new password", "192.0.2.1"), fault.NotFound)
}

func TestSendResets_ExpireAfterAnHour(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	m := w.person(t, connectors.RoleMember)
	if err := w.mailing.SendResets(t.Context(), m.Email, "en"); err != nil {
		t.Fatal(err)
	}
	w.AsSystem(t, "update password_resets set expires_at = expires_at - interval '1 hour'", nil)
	wantKind(t, w.auth.ResetPassword(t.Context(), w.token(t, wantMails(t, w, 1)[0].Text), "a new password", "192.0.2.1"), fault.NotFound)
}

func TestRequestReset_IsSilentAndBounded(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	m, ctx := w.person(t, connectors.RoleMember), t.Context()
	if err := w.mailing.SendResets(ctx, "nobody@example.com", "en"); err != nil {
		t.Fatal(err)
	}
	wantMails(t, w, 0)
	for i, email := range []string{m.Email, "nobody@example.com", m.Email, m.Email, m.Email} {
		if err := w.auth.RequestReset(ctx, email, "en", "192.0.2.1"); err != nil {
			t.Errorf("request %d: %v", i, err)
		}
	}
	var jobs int
	w.AsSystem(t, "select count(*) from river_job where kind = 'mail_reset' and args ->> 'address' = $1", []any{m.Email}, &jobs)
	if jobs != 1 { // one waits already
		t.Errorf("%d mails queued", jobs)
	}
	wantKind(t, w.auth.RequestReset(ctx, "no address", "en", "192.0.2.1"), fault.Invalid)
	for range 5 {
		if err := w.auth.RequestReset(ctx, "x@example.com", "en", "192.0.2.1"); err != nil {
			t.Fatal(err)
		}
	}
	wantKind(t, w.auth.RequestReset(ctx, "y@example.com", "en", "192.0.2.1"), fault.RateLimited)
	if err := w.auth.RequestReset(ctx, "y@example.com", "en", "198.51.100.1"); err != nil {
		t.Error(err)
	}
	if _, err := w.auth.SignIn(ctx, m.Email, password, "192.0.2.1"); err != nil {
		t.Errorf("requests shut the sign-in: %v", err)
	}
}

func TestInvite_MailsTheLink(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	tenant, err := w.Door().Self(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	i, token, err := w.auth.Invite(t.Context(), auth.Operator(tenant), "new@example.com", connectors.RoleViewer)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.mailing.Invite(t.Context(), tenant, i, token); err != nil {
		t.Fatal(err)
	}
	if got := wantMails(t, w, 1)[0]; got.To != "new@example.com" || !strings.Contains(got.Text, auth.InvitationPath(token)) || !strings.Contains(got.Subject(), tenant.Name) {
		t.Errorf("%+v", got)
	}
	w.smtp.RefuseNext(1)
	if err := w.mailing.Invite(context.Background(), tenant, i, token); err == nil {
		t.Error("a refused mail is no error")
	}
}

func wantKind(t *testing.T, err error, kind fault.Kind) {
	t.Helper()
	if !fault.Is(err, kind) {
		t.Errorf("got %v, want %v", err, kind)
	}
}
