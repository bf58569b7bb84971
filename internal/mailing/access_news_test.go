package mailing_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/manage"
)

// A request is mailed to those that decide while it is open, its answer to the asker alone, each by choice.
func TestAccessRequests_MailedToThoseConcerned(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	tenant, err := w.Door().Self(ctx)
	if err != nil {
		t.Fatal(err)
	}
	registry := manage.New(w.St, nil)
	admin, silent := w.Member(t, connectors.RoleAdmin), w.Member(t, connectors.RoleOwner)
	asker, other := w.Member(t, connectors.RoleMember), w.Member(t, connectors.RoleMember)
	for _, m := range []connectors.Member{admin, asker, other} {
		w.choose(t, m, connectors.MailAll, "en")
	}
	actor := func(m connectors.Member) auth.Actor {
		return auth.Actor{Kind: auth.KindPerson, UserID: &m.UserID, Tenant: tenant, Role: m.Role, Name: m.Name}
	}
	// sent returns the members that are queued for a mail, and sends each.
	began := time.Now().Add(-time.Minute)
	sent := func() map[string]string {
		t.Helper()
		w.AsSystem(t, "update memberships set mailed_at = now() - interval '6 minutes' where mailed_at is not null", nil)
		w.AsSystem(t, "delete from river_job where kind = 'mail_member'", nil)
		if err := w.mailing.QueueNews(ctx); err != nil {
			t.Fatal(err)
		}
		got := map[string]string{}
		for _, m := range []connectors.Member{admin, silent, asker, other} {
			var queued bool
			w.AsSystem(t, "select exists (select from river_job where kind = 'mail_member' and args ->> 'user_id' = $1)", []any{m.UserID.String()}, &queued)
			before := len(w.smtp.All())
			if err := w.mailing.SendNews(context.WithoutCancel(ctx), w.Tenant, m.UserID, began); err != nil {
				t.Fatal(err)
			}
			all := w.smtp.All()
			if isSent := len(all) > before; isSent && !queued || queued && m.UserID == other.UserID {
				t.Errorf("%s: queued %t, sent %t", m.Email, queued, isSent)
			}
			if len(all) > before {
				got[m.Email] = all[len(all)-1].Text
			}
		}
		return got
	}
	agent, c := w.Agent(t), w.Connector(t)
	asked, err := registry.AskAccess(ctx, actor(asker), manage.AccessAsk{
		Agent: connectors.Ref(agent.Slug), Connector: connectors.Ref(c.Slug), AllTools: true, Reason: "A secret reason.",
	})
	if err != nil {
		t.Fatal(err)
	}
	page := "https://patchbay.example.com/access/requests/" + asked.ID.String()
	got := sent()
	if text := got[admin.Email]; len(got) != 1 || !strings.Contains(text, page) || !strings.Contains(text, "/account#email") || strings.Contains(text, "secret reason") {
		t.Errorf("at the request: %v", got)
	}
	if _, err := registry.DecideRequest(ctx, actor(silent), asked.ID, manage.RequestDecision{Accept: true}); err != nil {
		t.Fatal(err)
	}
	got = sent()
	if text := got[asker.Email]; len(got) != 1 || !strings.Contains(text, page) || !strings.Contains(text, "was granted") || !strings.Contains(text, "/account#email") {
		t.Errorf("at the answer: %v", got)
	}
}
