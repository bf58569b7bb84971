package admin_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"patchbay/internal/connectors"
	"patchbay/internal/store"
)

func TestPagesLeadToSignInAndBack(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	m := d.createMember(connectors.RoleViewer)
	b := d.browser()
	p := b.get("/tools?q=issue")
	if p.Status != http.StatusSeeOther || p.Location != "/login?return_to=%2Ftools%3Fq%3Dissue" {
		t.Fatalf("%d to %q", p.Status, p.Location)
	}
	b.get(p.Location).want(t, http.StatusOK, "Sign in")
	p = b.post("/login", url.Values{"email": {m.Email}, "password": {password.Reveal()}, "return_to": {"/tools?q=issue"}})
	if p.Status != http.StatusSeeOther || p.Location != "/tools?q=issue" {
		t.Errorf("%d to %q", p.Status, p.Location)
	}
	b.get("/tools?q=issue").want(t, http.StatusOK)
	if p := b.get("/login"); p.Location != "/" {
		t.Errorf("signed in already: %d to %q", p.Status, p.Location)
	}
}

func TestSignInNeverLeadsElsewhere(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	m := d.createMember(connectors.RoleViewer)
	for _, evil := range []string{
		"//evil.example", `/\evil.example`, "https://evil.example", "/\t/evil.example", "/%0d%0a/evil", "///evil.example",
		`\\evil.example`, "javascript:alert(1)", "/a\r\nSet-Cookie: x=y", "evil",
	} {
		p := d.browser().post("/login", url.Values{"email": {m.Email}, "password": {password.Reveal()}, "return_to": {evil}})
		u, err := url.Parse(p.Location)
		if err != nil || u.Host != "" || u.Scheme != "" || !strings.HasPrefix(p.Location, "/") || strings.HasPrefix(p.Location, "//") {
			t.Errorf("%q leads to %q", evil, p.Location)
		}
	}
}

func TestWrongPasswordShowsTheFormAgain(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	m := d.createMember(connectors.RoleViewer)
	b := d.browser()
	wrong := url.Values{"email": {m.Email}, "password": {"wrong-password"}}
	for range 10 {
		p := b.post("/login", wrong)
		p.want(t, http.StatusUnauthorized, "Wrong email or password.", m.Email)
		if p.says("wrong-password") {
			t.Error("the page repeats the password")
		}
	}
	p := b.post("/login", url.Values{"email": {m.Email}, "password": {password.Reveal()}})
	p.want(t, http.StatusTooManyRequests, "Too many wrong passwords.")
	if p.Header.Get("Retry-After") == "" {
		t.Error("no Retry-After")
	}
}

func TestSignOutEndsTheSession(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	b := d.signInAsRole(connectors.RoleViewer)
	if p := b.post("/logout", nil); p.Location != "/login" {
		t.Errorf("%d to %q", p.Status, p.Location)
	}
	d.signInAsRole(connectors.RoleAuditor).get("/audit").want(t, http.StatusOK, "account.sign_in", "account.sign_out_here")
	if p := b.get("/connectors"); !strings.HasPrefix(p.Location, "/login") {
		t.Errorf("afterwards: %d to %q", p.Status, p.Location)
	}
}

func TestSetupMakesTheOwnerAndSignsIn(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	token, err := d.auth.SetupLink(t.Context(), d.Tenant)
	if err != nil {
		t.Fatal(err)
	}
	b := d.browser()
	link := "/setup?token=" + url.QueryEscape(token.Reveal())
	b.get(link).want(t, http.StatusOK, "Acme")
	form := url.Values{"token": {token.Reveal()}, "email": {"ada@example.com"}, "name": {"Ada"}, "password": {"short"}}
	b.post("/setup", form).want(t, http.StatusUnprocessableEntity, "Must be 10–200 characters.", "ada@example.com")
	form.Set("password", password.Reveal())
	b.submit("/setup", form).want(t, http.StatusOK, "Connectors", "Ada")

	d.browser().get(link).want(t, http.StatusNotFound)
	d.browser().post("/setup", form).want(t, http.StatusNotFound)
	if strings.Contains(d.log.String(), token.Reveal()) {
		t.Error("the log holds the token")
	}
}

func TestSetup_ExistingAccountNeedsItsPassword(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	m := d.createMember(connectors.RoleViewer)
	token, err := d.auth.SetupLink(t.Context(), d.Other)
	if err != nil {
		t.Fatal(err)
	}
	b := d.browser()
	form := url.Values{"token": {token.Reveal()}, "email": {m.Email}, "password": {"a stranger's choice"}}
	b.post("/setup", form).want(t, http.StatusUnprocessableEntity, "Enter the password of your existing account.")
	if p := b.get("/connectors"); p.Status != http.StatusSeeOther {
		t.Errorf("signed in: %d", p.Status)
	}
	form.Set("password", password.Reveal())
	b.submit("/setup", form).want(t, http.StatusOK, "Connectors")
}

func TestTenantSwitchShowsTheOtherTenant(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	m := d.createMember(connectors.RoleOwner)
	d.MemberIn(t, d.Other, connectors.RoleViewer, func(n *store.NewMember) { n.Email = m.Email })
	theirs := d.ConnectorIn(t, d.Other)
	b := d.browser()
	b.signIn(m.Email)
	if b.get("/connectors").says(theirs.Name) {
		t.Error("shown before the switch")
	}
	b.submit("/tenant", url.Values{"tenant": {"globex"}}).want(t, http.StatusOK)
	b.get("/connectors").want(t, http.StatusOK, theirs.Name)
	b.get("/settings").want(t, http.StatusForbidden)
	b.post("/tenant", url.Values{"tenant": {"nobody"}}).want(t, http.StatusNotFound)
}

func TestOtherSitesCannotSendForms(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	b := d.signInAsRole(connectors.RoleOwner)
	b.header.Set("Sec-Fetch-Site", "cross-site")
	b.header.Set("Origin", "https://evil.example")
	b.post("/logout", nil).want(t, http.StatusForbidden, "another site")
	b.header.Set("Authorization", "Bearer anything") // a bearer token passes that check, and must not get the session's rights
	if p := b.post("/logout", nil); p.Location != "/login" {
		t.Errorf("%d to %q", p.Status, p.Location)
	}
	b.header = http.Header{}
	b.get("/connectors").want(t, http.StatusOK)
}

func TestPasswordChange(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	b := d.signInAsRole(connectors.RoleViewer)
	b.post("/account/password", url.Values{"current_password": {"wrong"}, "new_password": {"a longer password"}}).
		want(t, http.StatusUnprocessableEntity, "Wrong password.")
	b.submit("/account/password", url.Values{"current_password": {password.Reveal()}, "new_password": {"a longer password"}}).
		want(t, http.StatusOK, "Password changed.")
}
