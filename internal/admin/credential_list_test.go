package admin_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/oauth/oauthtest"
	"patchbay/internal/store"
	"patchbay/internal/testing/htmlcheck"
)

// With token exchange no agent waits for a person, unless an owner has turned it off.
func TestCredentialList_SaysTokenExchange(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	c := d.Exchanging(t)
	d.Grant(t, d.Agent(t).ID, c.ID)
	b, path := d.signInAsRole(connectors.RoleAdmin), "/connectors/"+c.Slug+"/credentials"
	p := b.get(path)
	p.want(t, http.StatusOK, "Token exchange: an agent acts as its member, or as itself, without a sign-in. Each agent has its own account.")
	if p.says("needs credentials") || p.says("Sign-in on the server") {
		t.Error("the page asks for a sign-in")
	}
	if err := d.Door().Accounts().SetTokenExchange(t.Context(), false); err != nil {
		t.Fatal(err)
	}
	b.get(path).want(t, http.StatusOK, "Token exchange is off in Settings, so a person connects each account.", "1 agent needs credentials")
}

func TestCredentialList_FiltersSearchesAndPages(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	c := d.addOAuthConnector(func(c *connectors.Draft) { c.CredentialMode = connectors.CredentialPerAgent })
	for i := range 30 {
		a := d.Agent(t, func(a *connectors.Agent) { a.Name = fmt.Sprintf("Worker %02d", i) })
		d.Grant(t, a.ID, c.ID)
		if i < 3 {
			d.storeAccount(c, &a.ID, 100*time.Hour)
		}
	}
	d.Agent(t, func(a *connectors.Agent) { a.Name = "Bystander" })
	b, path := d.signInAsRole(connectors.RoleAdmin), "/connectors/"+c.Slug+"/credentials"
	for query, want := range map[string]string{
		"":                           "31 agents",
		"?status=missing":            "27 agents",
		"?status=connected":          "3 agents",
		"?status=attention":          "No matching agents",
		"?q=worker+1":                "10 agents",
		"?q=WORKER+0&status=missing": "7 agents",
		"?status=nonsense":           "31 agents",
	} {
		p := b.get(path + query)
		p.want(t, http.StatusOK, want)
		htmlcheck.Parse(t, p.Body).Sound(t)
	}
	first := b.get(path + "?status=missing&size=25")
	first.want(t, http.StatusOK, "1–25 of 27 agents")
	next := ""
	for _, a := range htmlcheck.Parse(t, first.Body).All("a") {
		if a.Attr("rel") == "next" {
			next = a.Attr("href")
		}
	}
	p := b.get(next)
	p.want(t, http.StatusOK, "26–27 of 27 agents", "Worker 28", "Worker 29", "27 agents need credentials", d.server.URL+path+"/missing")
	if p.says("Worker 27") || p.says("Bystander") {
		t.Error("the second page has rows of the first, or an agent without a grant")
	}
	b.get(path+"?q=bystander").want(t, http.StatusOK, "1 agent", "Not granted")
	if b := d.signInAsRole(connectors.RoleViewer); b.get(path).says("need credentials") {
		t.Error("a viewer is asked to send the list")
	}
	file := b.get("/exports" + path + "?status=missing&format=csv").Body
	if n := strings.Count(file, "\r\n"); n != 28 || strings.Contains(file, "Bystander") {
		t.Errorf("%d lines:\n%.300s", n, file)
	}
}

// The page's address opens nothing by itself: members sign in, and connect what they may.
func TestMissingCredentials_OffersWhatThePersonMayConnect(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	ada := d.Member(t, connectors.RoleMember, d.withPassword(), func(m *store.NewMember) { m.Name = "Ada Lovelace" })
	own, c, ownPath := d.createOwnAgent(ada, bearerAuth)
	team := d.Agent(t, func(a *connectors.Agent) { a.Name = "Team agent" })
	d.Grant(t, team.ID, c.ID)
	path := "/connectors/" + c.Slug + "/credentials/missing"

	stranger := d.browser().get(path)
	if to, _ := url.Parse(stranger.Location); stranger.Status != http.StatusSeeOther || to.Path != "/login" || to.Query().Get("return_to") != path {
		t.Errorf("without a sign-in: %d to %q", stranger.Status, stranger.Location)
	}
	tenants := d.browser()
	tenants.signIn(d.MemberIn(t, d.Other, connectors.RoleOwner, d.withPassword()).Email)
	tenants.get(path).want(t, http.StatusNotFound)

	admin := d.signInAsRole(connectors.RoleAdmin).get(path)
	admin.want(t, http.StatusOK, "2 agents", "Connect: Team agent", "Only Ada Lovelace can connect it.")
	htmlcheck.Parse(t, admin.Body).Sound(t)
	if admin.says(ownPath) {
		t.Error("an admin is led to connect the agent of a member")
	}
	member := d.browser()
	member.signIn(ada.Email)
	p := member.get(path)
	p.want(t, http.StatusOK, "1 agent", "Connect: "+own.Name, `href="`+ownPath+`"`)
	if p.says("Team agent") {
		t.Error("a member sees the agents of the organisation")
	}
	d.signInAsRole(connectors.RoleMember).get(path).want(t, http.StatusOK, "No missing credentials")

	d.Credential(t, c.ID, &own.ID, `{"token":"of ada"}`)
	member.get(path).want(t, http.StatusOK, "No missing credentials")
}

func TestMissingCredentials_ReturnsAfterConnect(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	_, mcp := startProtectedServer(t, oauthtest.Behaviour{}, oauthtest.ResourceBehaviour{})
	b := d.signInAsRole(connectors.RoleAdmin)
	c := d.addOAuthConnector(func(c *connectors.Draft) { c.URL, c.CredentialMode = mcp.URL, connectors.CredentialPerAgent })
	for _, name := range []string{"First", "Second"} {
		d.Grant(t, d.Agent(t, func(a *connectors.Agent) { a.Name, a.Slug = name, strings.ToLower(name) }).ID, c.ID)
	}
	path := "/connectors/" + c.Slug + "/credentials/missing"
	back, ok := htmlcheck.Parse(t, b.get(path).Body).Control("return_to")
	if !ok || back.Attr("value") != path {
		t.Fatalf("the form returns to %q", back.Attr("value"))
	}
	p := b.post("/connectors/"+c.Slug+"/agents/first/connect", url.Values{"return_to": {path}})
	to := strings.TrimPrefix(p.Header.Get("Refresh"), "0; url=")
	b.followCallback(b.followConsent(to)).want(t, http.StatusOK, "1 agent", "Connect: Second")

	d.advancePastConfirmation()
	connect := "/connectors/" + c.Slug + "/agents/second/connect"
	sent := heldFormValues(t, b.post(connect, url.Values{"return_to": {path}}), connect)
	sent.Set("confirm_password", password.Reveal())
	p = b.post(connect, sent) // the confirmation goes on to the authorization server, and from there back to the list
	to = strings.TrimPrefix(p.Header.Get("Refresh"), "0; url=")
	if back := b.get(b.followConsent(to)); back.Location != path {
		t.Errorf("the confirmation leads back to %d %q", back.Status, back.Location)
	}
}
