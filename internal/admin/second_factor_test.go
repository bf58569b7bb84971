package admin_test

import (
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pquerna/otp/totp"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/secret"
	"patchbay/internal/testing/fixture"
)

// nextCode is a valid code of an unused time step.
func (d *dashboard) nextCode(key secret.Text) string {
	d.t.Helper()
	d.signInAhead.Add(int64(time.Minute))
	code, err := totp.GenerateCode(strings.ReplaceAll(key.Reveal(), " ", ""), d.signInTime())
	if err != nil {
		d.t.Fatal(err)
	}
	return code
}

// createMemberWithFactor creates a member with the fixture's second factor.
func (d *dashboard) createMemberWithFactor(role connectors.Role) connectors.Member {
	d.t.Helper()
	m := d.createMember(role)
	d.SecondFactor(d.t, m.UserID)
	return m
}

// signInWithoutCode is a browser after the password and before the code.
func (d *dashboard) signInWithoutCode(m connectors.Member) *browser {
	d.t.Helper()
	b := d.browser()
	p := b.post("/login", url.Values{"email": {m.Email}, "password": {password.Reveal()}, "return_to": {"/tools?q=a"}})
	if p.Status != http.StatusSeeOther || p.Location != "/login/code?return_to=%2Ftools%3Fq%3Da" {
		d.t.Fatalf("%d to %q", p.Status, p.Location)
	}
	return b
}

func TestSecondFactor_FollowsThePassword(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	m := d.createMemberWithFactor(connectors.RoleOwner)
	b := d.signInWithoutCode(m)
	b.get("/login/code?return_to=//evil.example").want(t, http.StatusOK, "Second factor", `value="/"`)
	b.post("/login/code", url.Values{"code": {"nothing like it"}}).want(t, http.StatusUnprocessableEntity, "Wrong or used code. Wait for the next one.")
	code := d.nextCode(fixture.CodeKey)
	if p := b.post("/login/code", url.Values{"code": {code}, "return_to": {"/tools?q=a"}}); p.Location != "/tools?q=a" {
		t.Errorf("%d to %q\n%s", p.Status, p.Location, plainText(p.Body))
	}
	b.get("/tools?q=a").want(t, http.StatusOK)
	d.signInWithoutCode(m).post("/login/code", url.Values{"code": {code}}).want(t, http.StatusUnprocessableEntity)

	late := d.signInWithoutCode(m)
	d.signInAhead.Add(int64(6 * time.Minute))
	late.submit("/login/code", url.Values{"code": {d.nextCode(fixture.CodeKey)}}).want(t, http.StatusOK, "Timed out. Sign in again.")
	if p := d.browser().get("/login/code"); p.Location != "/login" {
		t.Errorf("without a password: %d to %q", p.Status, p.Location)
	}
}

func TestSecondFactor_ReturnPathSurvivesNewSignIn(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	m := d.createMemberWithFactor(connectors.RoleOwner)
	const page, sign = "return_to=%2Ftools%3Fq%3Da", "/login?return_to=%2Ftools%3Fq%3Da"
	if p := d.browser().get("/login/code?" + page); p.Location != sign {
		t.Errorf("without a password: %d to %q", p.Status, p.Location)
	}
	late := d.signInWithoutCode(m)
	late.get("/login/code?"+page).want(t, http.StatusOK, `href="`+sign+`"`)
	d.signInAhead.Add(int64(6 * time.Minute))
	if p := late.post("/login/code", url.Values{"code": {d.nextCode(fixture.CodeKey)}, "return_to": {"/tools?q=a"}}); p.Location != sign {
		t.Errorf("too late: %d to %q", p.Status, p.Location)
	}
}

func TestTenWrongCodesAreEnough(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	m := d.createMemberWithFactor(connectors.RoleMember)
	for range 10 {
		d.signInWithoutCode(m).post("/login/code", url.Values{"code": {"nothing like it"}}).want(t, http.StatusUnprocessableEntity)
	}
	p := d.browser().post("/login", url.Values{"email": {m.Email}, "password": {password.Reveal()}})
	p.want(t, http.StatusTooManyRequests, "Too many wrong passwords.")
}

// Every page and every form, after the password and before the code.
func TestSecondFactor_NoPageWithoutTheCode(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	ids, m := d.ownThings(), d.createMemberWithFactor(connectors.RoleOwner)
	b := d.signInWithoutCode(m)
	before := d.snapshot()
	for route, least := range routeRoles {
		if least == anyone {
			continue
		}
		method, pattern, _ := strings.Cut(route, " ")
		var form url.Values
		if method == http.MethodPost {
			form = url.Values{}
		}
		p := b.do(method, ids.fill(pattern), form)
		if p.Status != http.StatusSeeOther || !strings.HasPrefix(p.Location, "/login") || strings.HasPrefix(p.Location, "/login/code") {
			t.Errorf("%s: %d to %q", route, p.Status, p.Location)
		}
	}
	d.wantUnchanged(before)
}

// enrolmentRoutes work before a required second factor is set up.
var enrolmentRoutes = []string{
	"GET /account/second-factor", "POST /account/second-factor", "POST /account/second-factor/confirm", "POST /account/second-factor/codes",
	"POST /account/second-factor/remove", "GET /confirm", "POST /confirm", "POST /confirm/sso", "POST /tenant", "POST /logout",
}

func TestSecondFactor_RequiredBeforeAnyOtherPage(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	ids, owner := d.ownThings(), d.signInAsRole(connectors.RoleOwner)
	owner.get("/settings").want(t, http.StatusOK, "Optional")
	owner.post("/settings", url.Values{"name": {"Acme"}, "second_factor": {"required"}})
	before := d.snapshot()
	for route, least := range routeRoles {
		if least == anyone || slices.Contains(enrolmentRoutes, route) {
			continue
		}
		method, pattern, _ := strings.Cut(route, " ")
		var form url.Values
		if method == http.MethodPost {
			form = url.Values{}
		}
		if p := owner.do(method, ids.fill(pattern), form); p.Status != http.StatusSeeOther || p.Location != "/account/second-factor" {
			t.Errorf("%s: %d to %q", route, p.Status, p.Location)
		}
	}
	d.wantUnchanged(before)
	if p := owner.get("/login"); p.Location != "/" {
		t.Errorf("%d to %q", p.Status, p.Location)
	}
	page := owner.get("/account/second-factor")
	page.want(t, http.StatusOK, "Acme requires one for all members.")
	if strings.Contains(page.Body, `href="/connectors"`) {
		t.Error("the page leads into the tenant")
	}
	owner.post("/account/second-factor", nil)
	key := readFactorKey(t, owner.get("/account/second-factor"))
	owner.post("/account/second-factor/confirm", url.Values{"code": {d.nextCode(key)}}).want(t, http.StatusOK, "Your recovery codes")
	owner.get("/connectors").want(t, http.StatusOK)
}

var codeKeyShown = regexp.MustCompile(`(?:[A-Z2-7]{4} ){7}[A-Z2-7]{4}`)

// readFactorKey is the key on a page.
func readFactorKey(t *testing.T, p page) secret.Text {
	t.Helper()
	key := codeKeyShown.FindString(p.Body)
	if key == "" {
		t.Fatalf("no key on the page:\n%s", plainText(p.Body))
	}
	return secret.Text(key)
}

func TestSecondFactor_IsAskedByInvitationAndSetup(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	m := d.createMemberWithFactor(connectors.RoleMember)
	setup, err := d.auth.SetupLink(t.Context(), d.Other)
	if err != nil {
		t.Fatal(err)
	}
	b := d.browser()
	if p := b.post("/setup", url.Values{"token": {setup.Reveal()}, "email": {m.Email}, "password": {password.Reveal()}}); p.Location != "/login/code" {
		t.Errorf("%d to %q", p.Status, p.Location)
	}
	if p := b.get("/connectors"); p.Status != http.StatusSeeOther {
		t.Errorf("%d", p.Status)
	}
	other := d.createMemberWithFactor(connectors.RoleMember)
	there, err := d.OtherDoor().Self(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	_, token, err := d.auth.Invite(t.Context(), auth.Operator(there), other.Email, connectors.RoleViewer)
	if err != nil {
		t.Fatal(err)
	}
	b = d.browser()
	if p := b.post("/setup/invitation", url.Values{"token": {token.Reveal()}, "password": {password.Reveal()}}); p.Location != "/login/code" {
		t.Errorf("%d to %q", p.Status, p.Location)
	}
	if p := b.get("/connectors"); p.Status != http.StatusSeeOther {
		t.Errorf("%d", p.Status)
	}
}

func TestSecondFactor_OwnerRemovesAMembers(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	m, b := d.createMemberWithFactor(connectors.RoleMember), d.signInAsRole(connectors.RoleOwner)
	remove := "/members/" + m.UserID.String() + "/second-factor/remove"
	b.get("/members").want(t, http.StatusOK, remove)
	b.submit(remove, nil).want(t, http.StatusOK, "Second factor removed, member signed out everywhere.")
	if strings.Contains(b.get("/members").Body, remove) {
		t.Error("there is still one to take away")
	}
	d.browser().signIn(m.Email)
}
