package admin_test

import (
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"testing"
	"time"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/store"
	"patchbay/internal/testing/htmlcheck"
)

// signInTo signs in where the sign-in page leads to after a form of an ended session.
func (b *browser) signInTo(email, returnTo string) page {
	b.t.Helper()
	return b.submit("/login", url.Values{"email": {email}, "password": {password.Reveal()}, "return_to": {returnTo}})
}

// sendLate signs a member in, ends the session, and sends a form.
func (d *dashboard) sendLate(m connectors.Member, path string, form url.Values) (*browser, page) {
	d.t.Helper()
	b := d.browser()
	b.signIn(m.Email)
	d.signInAhead.Add(int64(auth.SessionIdle + time.Minute))
	b.header = http.Header{"Referer": {d.base + "/agents/new"}}
	return b, b.post(path, form)
}

func unsentAction(t *testing.T, p page) string {
	t.Helper()
	p.want(t, http.StatusOK, "Send your form?", "From /agents/new")
	for _, form := range htmlcheck.Parse(t, p.Body).All("form") {
		if action := form.Attr("action"); strings.Contains(action, "unsent=1") {
			return action
		}
	}
	t.Fatalf("no form sends it: %s", plainText(p.Body))
	return ""
}

func TestUnsent_FormIsSentAfterSignIn(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	m := d.createMember(connectors.RoleAdmin)
	b, p := d.sendLate(m, "/agents", url.Values{"name": {"Late agent"}, "token": {"s3cret"}})
	if p.Location != "/login?return_to=%2Funsent&unsent=kept" {
		t.Fatalf("%d to %q", p.Status, p.Location)
	}
	b.get(p.Location).want(t, http.StatusOK, "Sign in within 15 minutes to send your form.", `value="/unsent"`)
	p = b.signInTo(m.Email, "/unsent")
	if strings.Contains(p.Body, "s3cret") {
		t.Error("the page shows a secret")
	}
	p.want(t, http.StatusOK, "Name: Late agent", "Token: ••••••")
	action := unsentAction(t, p)
	if d.Count(t, "agents") != 0 {
		t.Fatal("sent before it was asked for")
	}
	if p := b.post("/connectors?unsent=1", nil); p.Status != http.StatusNotFound {
		t.Errorf("another action gets the form: %d", p.Status)
	}
	if p := b.post(action, nil); p.Status != http.StatusSeeOther || !strings.HasPrefix(p.Location, "/agents/late-agent") {
		t.Fatalf("%d to %q: %s", p.Status, p.Location, plainText(p.Body))
	}
	b.post(action, nil).want(t, http.StatusNotFound, "This form has expired. Nothing was changed.")
	b.get("/unsent").want(t, http.StatusNotFound, "This form has expired.")
}

// A form that asks for a confirmation is kept with it, and a session past its lifetime is known as well.
func TestUnsent_StepUpStillApplies(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	m, c := d.createMember(connectors.RoleOwner), d.Connector(t)
	b, _ := d.sendLate(m, "/connectors/"+c.Slug+"/delete", url.Values{"sure": {"yes"}})
	b.signInTo(m.Email, "/unsent")
	d.signInAhead.Add(int64(10 * time.Minute))
	action := unsentAction(t, b.get("/unsent"))
	d.AsOwner(t, "update browser_sessions set confirmed_at = confirmed_at - interval '2 hours'")
	p := b.post(action, nil)
	p.want(t, http.StatusForbidden, "Confirm your password to delete this connector")
	sent := heldFormValues(t, p, "/connectors/"+c.Slug+"/delete")
	sent.Set("confirm_password", password.Reveal())
	if p := b.post("/connectors/"+c.Slug+"/delete", sent); p.Status != http.StatusSeeOther {
		t.Errorf("%d: %s", p.Status, plainText(p.Body))
	}
}

func TestUnsent_OthersNeverGetIt(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	m, other := d.createMember(connectors.RoleAdmin), d.createMember(connectors.RoleAdmin)
	b, _ := d.sendLate(m, "/agents", url.Values{"name": {"Late agent"}})
	b.signInTo(other.Email, "/unsent").want(t, http.StatusNotFound, "This form has expired.")
	b.post("/agents?unsent=1", url.Values{"name": {"x"}}).want(t, http.StatusNotFound)
	if d.Count(t, "agents") != 0 {
		t.Error("sent for another person")
	}
	d.signInAhead.Add(int64(2 * time.Minute)) // the next use removes it
	b.get("/agents")
	b.post("/logout", nil)
	b.signInTo(m.Email, "/unsent").want(t, http.StatusNotFound)
}

func TestUnsent_WaitsForItsTenant(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	m := d.createMember(connectors.RoleAdmin)
	d.MemberIn(t, d.Other, connectors.RoleAdmin, func(n *store.NewMember) { n.Email = m.Email })
	b := d.browser()
	b.signIn(m.Email)
	b.post("/tenant", url.Values{"tenant": {"globex"}})
	d.signInAhead.Add(int64(auth.SessionIdle + time.Minute))
	b.post("/agents", url.Values{"name": {"Late agent"}})
	b.signInTo(m.Email, "/unsent").want(t, http.StatusOK, "Switch to "+"Globex"+"?")
	b.post("/agents?unsent=1", nil).want(t, http.StatusNotFound)
	p := b.submit("/tenant", url.Values{"tenant": {"globex"}, "return_to": {"/unsent"}})
	p.want(t, http.StatusOK, "Send your form?", "Name: Late agent")
}

func TestUnsent_NotKept(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	m := d.createMember(connectors.RoleAdmin)
	lost := func(name string, b *browser, p page) {
		t.Helper()
		if !strings.HasPrefix(p.Location, "/login") || strings.Contains(p.Location, "kept") {
			t.Errorf("%s: %d to %q", name, p.Status, p.Location)
		}
		b.signInTo(m.Email, "/unsent").want(t, http.StatusNotFound)
	}
	b, p := d.sendLate(m, "/agents", url.Values{"name": {strings.Repeat("x", 64<<10)}})
	lost("too large", b, p)
	b = d.browser()
	b.signIn(m.Email)
	d.signInAhead.Add(int64(auth.SessionIdle + time.Minute))
	lost("with a file", b, b.upload("/connectors/import/preview", "{}", ""))
	b, _ = d.sendLate(m, "/agents", url.Values{"name": {"Late agent"}})
	d.signInAhead.Add(int64(auth.UnsentLife + time.Second))
	b.signInTo(m.Email, "/unsent").want(t, http.StatusNotFound, "This form has expired.")
	b, _ = d.sendLate(m, "/agents", url.Values{"name": {"Late agent"}})
	b.client.Jar, _ = cookiejar.New(nil)
	b.signInTo(m.Email, "/unsent").want(t, http.StatusNotFound)
	b = d.browser()
	b.signIn(m.Email)
	d.signInAhead.Add(int64(auth.SessionIdle + time.Minute))
	b.header = http.Header{"Hx-Request": {"true"}}
	if p := b.post("/agents", url.Values{"name": {"x"}}); strings.Contains(p.Header.Get("Hx-Redirect"), "kept") {
		t.Error("a script's form is kept")
	}
}

func TestUnsent_SessionPastItsLifetime(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	m := d.createMember(connectors.RoleAdmin)
	b := d.browser()
	b.signIn(m.Email)
	d.AsOwner(t, "update browser_sessions set began_at = began_at - interval '7 days 1 minute'")
	if p := b.post("/agents", url.Values{"name": {"Late agent"}}); !strings.Contains(p.Location, "kept") {
		t.Errorf("%d to %q", p.Status, p.Location)
	}
}
