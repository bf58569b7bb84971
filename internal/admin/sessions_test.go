package admin_test

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/store"
)

// createSession creates another session of a member.
func (d *dashboard) createSession(user connectors.UserID) connectors.SessionID {
	d.t.Helper()
	s := connectors.Session{ID: store.NewSessionID(), UserAgent: "curl/8.0", Address: "192.0.2.9", Began: time.Now()}
	if err := d.St.System().Sessions().BeginSession(d.t.Context(), user, s); err != nil {
		d.t.Fatal(err)
	}
	return s.ID
}

var revoke = regexp.MustCompile(`/account/sessions/[0-9a-f-]+/revoke`)

func TestSessions_OneIsRevoked(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	m := d.createMember(connectors.RoleViewer)
	here, there := d.browser(), d.browser()
	here.header.Set("User-Agent", "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/129.0.0.0 Safari/537.36 Edg/129.0.0.0")
	there.header.Set("User-Agent", "Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1")
	here.signIn(m.Email)
	there.signIn(m.Email)
	d.signInAsRole(connectors.RoleViewer) // another member's session is not listed
	p := here.get("/account")
	p.want(t, http.StatusOK, "Your sessions", "Edge on Windows", "This browser", "Safari on iPhone", "127.0.0.1",
		"Session length: 24 hours idle, 7 days at most.")
	forms := revoke.FindAllString(p.Body, -1)
	if len(forms) != 1 {
		t.Fatalf("%d browsers may be signed out, want the other one: %q", len(forms), forms)
	}
	here.submit(forms[0], nil).want(t, http.StatusOK, "Browser signed out.", "Edge on Windows")
	if p := there.get("/account"); !strings.HasPrefix(p.Location, "/login") {
		t.Errorf("the other browser: %d to %q", p.Status, p.Location)
	}
	here.post(forms[0], nil).want(t, http.StatusNotFound)
	if here.get("/account").says("Safari on iPhone") {
		t.Error("the session that was ended is listed")
	}
}

func TestSessions_SignOutEverywhere(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	m := d.createMember(connectors.RoleViewer)
	here, there := d.browser(), d.browser()
	here.signIn(m.Email)
	there.signIn(m.Email)
	here.submit("/account/sign-out", nil).want(t, http.StatusOK, "Signed out everywhere.", "Sign in")
	for _, b := range []*browser{here, there} {
		if p := b.get("/connectors"); !strings.HasPrefix(p.Location, "/login") {
			t.Errorf("%d to %q", p.Status, p.Location)
		}
	}
	there.signIn(m.Email)
	there.get("/connectors").want(t, http.StatusOK)
}

func TestAnOwnerSignsAMemberOutEverywhere(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	m := d.createMember(connectors.RoleAdmin)
	b, owner := d.browser(), d.signInAsRole(connectors.RoleOwner)
	b.signIn(m.Email)
	form := "/members/" + m.UserID.String() + "/sign-out"
	owner.get("/members").want(t, http.StatusOK, form)
	owner.submit(form, nil).want(t, http.StatusOK, "Member signed out everywhere.", m.Email)
	if p := b.get("/connectors"); !strings.HasPrefix(p.Location, "/login") {
		t.Errorf("%d to %q", p.Status, p.Location)
	}
	owner.get("/audit?action=member.sign_out").want(t, http.StatusOK, "1 event")
}

func TestPasswordChange_EndsOtherSessions(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	m := d.createMember(connectors.RoleViewer)
	here, there := d.browser(), d.browser()
	here.signIn(m.Email)
	there.signIn(m.Email)
	p := here.submit("/account/password", url.Values{"current_password": {password.Reveal()}, "new_password": {"a longer password"}})
	p.want(t, http.StatusOK, "Password changed.")
	if revoke.MatchString(p.Body) {
		t.Error("another session is listed")
	}
	if p := there.get("/account"); !strings.HasPrefix(p.Location, "/login") {
		t.Errorf("the other browser: %d to %q", p.Status, p.Location)
	}
}
