package admin_test

import (
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"patchbay/internal/admin"
	"patchbay/internal/connectors"
	"patchbay/internal/mcp/mcptest"
	"patchbay/internal/oauth/oauthtest"
	"patchbay/internal/testing/htmlcheck"
)

// startProtectedServer starts an MCP server with two tools behind an authorization server.
func startProtectedServer(t testing.TB, as oauthtest.Behaviour, mcp oauthtest.ResourceBehaviour) (*oauthtest.Server, *oauthtest.Resource) {
	t.Helper()
	server := oauthtest.Start(t, as)
	if mcp.Next == nil {
		mcp.Next = mcptest.Start(t, mcptest.Script{Tools: []string{mcptest.Tool("search"), mcptest.Tool("create_note")}})
	}
	return server, server.Protect(t, mcp)
}

// addNotes adds the OAuth connector Notes.
func (b *browser) addNotes(address string, more ...string) page {
	b.t.Helper()
	return b.post("/connectors", connectorForm("Notes", address, append([]string{"auth.type", "oauth2"}, more...)...))
}

// followConnect presses a connect button and returns the address of the authorization server.
func (b *browser) followConnect(path string) string {
	b.t.Helper()
	p := b.post(path, nil)
	p.want(b.t, http.StatusOK, "Taking you to ")
	to, ok := strings.CutPrefix(p.Header.Get("Refresh"), "0; url=")
	if !ok || !p.says(`href="`+to+`"`) {
		b.t.Fatalf("the page leads to %q:\n%s", p.Header.Get("Refresh"), p.Body)
	}
	return to
}

// followConsent opens the authorization server, which consents at once, and returns the callback.
func (b *browser) followConsent(authorize string) string {
	b.t.Helper()
	p := b.get(authorize)
	if p.Status != http.StatusFound || !strings.HasPrefix(p.Location, b.base+"/oauth/callback?") {
		b.t.Fatalf("the authorization server answers %d to %q: %s", p.Status, p.Location, p.Body)
	}
	return p.Location
}

// followCallback opens the callback and the page after it.
func (b *browser) followCallback(callback string) page {
	b.t.Helper()
	p := b.get(callback)
	if p.Status != http.StatusSeeOther {
		return p
	}
	return b.get(p.Location)
}

func TestConnect_AndDisconnect(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	as, mcp := startProtectedServer(t, oauthtest.Behaviour{Scopes: []string{"notes:read"}}, oauthtest.ResourceBehaviour{Scope: "notes:read notes:write"})
	b := d.signInAsRole(connectors.RoleAdmin)
	p := b.addNotes(mcp.URL)
	if p.Location != "/connectors/notes/credentials" {
		t.Fatalf("adding leads to %q (%d)", p.Location, p.Status)
	}
	b.get(p.Location).want(t, http.StatusOK, "Added “Notes”. Connect it.", "Not connected", "One account for all agents.")
	b.get("/connectors").want(t, http.StatusOK, `href="/connectors/notes/credentials#credential-shared"`, "Connect: Notes")
	b.get("/connectors/notes").want(t, http.StatusOK, "No account connected")

	callback := b.followConsent(b.followConnect("/connectors/notes/connect"))
	back := b.get(callback)
	if back.Location != "/connectors/notes/credentials" || back.Header.Get("Referrer-Policy") != "no-referrer" {
		t.Errorf("%d to %q, %v", back.Status, back.Location, back.Header)
	}
	b.get(back.Location).want(t, http.StatusOK, "Connected “Notes”. Discovered 2 tools.", "notes:read", "notes:write", "Token expires", "Reconnect", "just now")
	b.get("/connectors/notes/tools").want(t, http.StatusOK, "create_note")
	b.get("/connectors/notes/runs").want(t, http.StatusOK, "Account connected", "2 tools")
	if p := b.get("/connectors"); p.says("Connect: Notes") {
		t.Error("the list asks to connect what is connected")
	}

	b.submit("/connectors/notes/disconnect", nil).want(t, http.StatusOK, "Disconnected “Notes”.", "Not connected")
	if as.Count(oauthtest.Revoke) != 1 {
		t.Error("the server was not told")
	}
	b.post("/connectors/notes/disconnect", nil).want(t, http.StatusNotFound, "No account connected.")
}

func TestConnect_ByLink(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	as, mcp := startProtectedServer(t, oauthtest.Behaviour{}, oauthtest.ResourceBehaviour{Scope: "notes:read"})
	b := d.signInAsRole(connectors.RoleAdmin)
	b.post("/agents", url.Values{"name": {"Support"}})
	b.post("/agents", url.Values{"name": {"Billing"}})
	if p := b.addNotes(mcp.URL, "credential_mode", "per_agent"); p.Location != "/connectors/notes/credentials" {
		t.Fatalf("adding leads to %q (%d)", p.Location, p.Status)
	}
	p := b.post("/connectors/notes/agents/support/connect-link", nil)
	p.want(t, http.StatusOK, "Link for Support", "Works once, expires", "in 24 hours")
	link := findAddress(t, p, d.server.URL+"/connect/")
	if b.get("/connectors/notes/credentials").says(link) {
		t.Error("the link is shown twice")
	}

	visitor := d.browser()
	for range 2 { // a GET or HEAD does not use the link up
		p = visitor.get(link)
		p.want(t, http.StatusOK, "Connect Notes", "Acme", "the agent Support", "notes:read", "127.0.0.1")
		htmlcheck.Parse(t, p.Body).Sound(t)
	}
	if csp := p.Header.Get("Content-Security-Policy"); !strings.Contains(csp, "form-action 'self' https: "+as.Origin()) {
		t.Errorf("the button's way is not open: %s", csp)
	}
	p = visitor.post(link, nil)
	cookie := p.Header.Get("Set-Cookie")
	for _, want := range []string{"patchbay_connect=", "Path=/", "HttpOnly", "SameSite=Lax", "Max-Age=600"} {
		if !strings.Contains(cookie, want) {
			t.Errorf("the cookie %q has no %s", cookie, want)
		}
	}
	if p.Status != http.StatusSeeOther || !strings.HasPrefix(p.Location, as.Issuer+"/authorize?") {
		t.Fatalf("the button leads to %q (%d)\n%s", p.Location, p.Status, plainText(p.Body))
	}
	back := visitor.get(visitor.followConsent(p.Location))
	if back.Location != "/connect/done" {
		t.Errorf("the way back ends at %q", back.Location)
	}
	done := visitor.get(back.Location)
	done.want(t, http.StatusOK, "Connected “Notes”. Discovered 2 tools.", "You can close this page")
	htmlcheck.Parse(t, done.Body).Sound(t)
	visitor.get("/connect/done").want(t, http.StatusOK, "Nothing to do")

	for _, p := range []page{visitor.get(link), d.browser().post(link, nil)} {
		p.want(t, http.StatusNotFound, "Link used or expired. Ask for a new one.")
	}
	b.get("/connectors/notes/credentials").want(t, http.StatusOK, "Reconnect: Support", "Connect: Billing")
	b.get("/agents/support").want(t, http.StatusOK, "Notes", "Connected", "/connectors/notes/credentials#credential-support")
	b.get("/agents/billing").want(t, http.StatusOK, "Notes", "Not connected")
	b.get("/connectors/notes/runs").want(t, http.StatusOK, "as Support")
}

// findAddress finds an address on a page by its prefix.
func findAddress(t testing.TB, p page, prefix string) string {
	t.Helper()
	start := strings.Index(p.Body, prefix)
	if start < 0 {
		t.Fatalf("no %s on the page:\n%s", prefix, plainText(p.Body))
	}
	rest := p.Body[start:]
	return rest[:strings.IndexAny(rest, `"<`)]
}

func TestConnect_DeniedConsentIsExplained(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	as, mcp := startProtectedServer(t, oauthtest.Behaviour{Deny: "access_denied"}, oauthtest.ResourceBehaviour{})
	b := d.signInAsRole(connectors.RoleAdmin)
	b.addNotes(mcp.URL)
	back := b.get(b.followConsent(b.followConnect("/connectors/notes/connect")))
	if back.Location != "/connectors/notes/credentials" {
		t.Errorf("back to %q", back.Location)
	}
	p := b.get(back.Location)
	p.want(t, http.StatusOK, "Not connected", "You declined to connect “Notes”. Nothing was stored.", "/connectors/notes/connect")
	htmlcheck.Parse(t, p.Body).Sound(t)
	if p.says("REFLECTED") || as.Count(oauthtest.Exchange) != 0 {
		t.Error("the answer of the server is repeated, or used")
	}
	as.Set(func(b *oauthtest.Behaviour) { b.Deny = "server_error" })
	b.get(b.followConsent(b.followConnect("/connectors/notes/connect"))).want(t, http.StatusBadGateway, "Not connected", "It may work later.", "Back to “Notes”")
	b.get("/connectors/notes/credentials").want(t, http.StatusOK, "Not connected")
	as.Set(func(b *oauthtest.Behaviour) { b.Deny, b.Token = "", oauthtest.DeadGrant })
	p = b.get(b.followConsent(b.followConnect("/connectors/notes/connect")))
	p.want(t, http.StatusBadGateway, "Not connected", "Server response", `REFLECTED-\u003cscript\u003e`)
	htmlcheck.Parse(t, p.Body).Sound(t)
}

func TestCallback_IsSingleUseAndBoundToBrowser(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	as, mcp := startProtectedServer(t, oauthtest.Behaviour{Iss: oauthtest.IssRight}, oauthtest.ResourceBehaviour{})
	b := d.signInAsRole(connectors.RoleAdmin)
	b.addNotes(mcp.URL)
	link := findAddress(t, b.post("/connectors/notes/connect-link", nil), d.server.URL+"/connect/")
	visitor := d.browser()
	sent := visitor.followConsent(visitor.post(link, nil).Location)

	signedOut := d.signInAsRole(connectors.RoleAdmin)
	left := signedOut.followConsent(signedOut.followConnect("/connectors/notes/connect"))
	signedOut.post("/logout", nil)
	for name, p := range map[string]page{
		"without a state":        b.get("/oauth/callback?code=x"),
		"with an invented state": b.get("/oauth/callback?code=x&state=" + strings.Repeat("a", 43)),
		"in a stranger's":        d.browser().get(b.followConsent(b.followConnect("/connectors/notes/connect"))),
		"in another admin's":     d.signInAsRole(connectors.RoleAdmin).get(b.followConsent(b.followConnect("/connectors/notes/connect"))),
		"in the link's maker's":  b.get(sent),
		"after signing out":      signedOut.get(left),
		"from another issuer":    b.get(withIssuer(b.followConsent(b.followConnect("/connectors/notes/connect")), "https://evil.example")),
	} {
		p.want(t, http.StatusBadRequest, "Not connected")
		if p.Header.Get("Referrer-Policy") != "no-referrer" {
			t.Errorf("%s: the page tells where it was reached from", name)
		}
		htmlcheck.Parse(t, p.Body).Sound(t)
	}
	if n := as.Count(oauthtest.Exchange); n != 0 {
		t.Fatalf("%d token requests", n)
	}

	callback := b.followConsent(b.followConnect("/connectors/notes/connect"))
	b.do(http.MethodHead, callback, nil) // a HEAD request does not use the code up
	b.followCallback(callback).want(t, http.StatusOK, "Connected “Notes”. Discovered 2 tools.")
	b.get(callback).want(t, http.StatusBadRequest, "This connection expired or was already used. Reconnect.")
	if n := as.Count(oauthtest.Exchange); n != 1 {
		t.Errorf("%d token requests", n)
	}
}

// withIssuer replaces the callback's iss parameter.
func withIssuer(callback, issuer string) string {
	u, err := url.Parse(callback)
	if err != nil {
		return callback
	}
	q := u.Query()
	q.Set("iss", issuer)
	u.RawQuery = q.Encode()
	return u.String()
}

func TestConnect_RefusedScopeIsDropped(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	_, mcp := startProtectedServer(t,
		oauthtest.Behaviour{Scopes: []string{"offline_access"}, RefuseScopes: []string{"offline_access"}}, oauthtest.ResourceBehaviour{Scope: "notes:read"})
	b := d.signInAsRole(connectors.RoleAdmin)
	b.addNotes(mcp.URL)
	again := b.get(b.followConsent(b.followConnect("/connectors/notes/connect")))
	if again.Status != http.StatusSeeOther || strings.Contains(again.Location, "offline_access") {
		t.Fatalf("%d to %q", again.Status, again.Location)
	}
	b.followCallback(b.followConsent(again.Location)).want(t, http.StatusOK, "Connected “Notes”. Discovered 2 tools.")
}

func TestConnect_FailureShowsEachStep(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	as, mcp := startProtectedServer(t, oauthtest.Behaviour{NoRegistration: true}, oauthtest.ResourceBehaviour{})
	b := d.signInAsRole(connectors.RoleAdmin)
	b.addNotes(mcp.URL)
	p := b.post("/connectors/notes/connect", nil)
	p.want(t, http.StatusConflict, "Not connected", "doesn't let clients register themselves", "/oauth/callback", "Open settings",
		mcp.MetadataURL(), as.Issuer+"/.well-known/oauth-authorization-server", "401 Unauthorized", "a challenge", "Authorization server found.")
	htmlcheck.Parse(t, p.Body).Sound(t)
	if !p.says(`name="return_to" value="/connectors/notes/credentials"`) {
		t.Error("the page's sync button would come back to a form")
	}

	p = b.post("/connectors/notes/diagnose", nil)
	p.want(t, http.StatusOK, "Diagnosis", "Can't connect an account", "Token endpoint", "credential for everything")
	b.header.Set("HX-Request", "true")
	p = b.post("/connectors/notes/diagnose", nil)
	if p.want(t, http.StatusOK, "Can't connect an account"); p.says("<html") || !p.says(`id="diagnosis"`) {
		t.Error("a script gets more than the panel")
	}
	b.header = http.Header{}

	as.Stop()
	b.post("/connectors/notes/connect", nil).want(t, http.StatusBadGateway, "Not connected", "no connection")
	link := findAddress(t, b.post("/connectors/notes/connect-link", nil), d.server.URL+"/connect/")
	d.browser().get(link).want(t, http.StatusOK, "can't be reached", "Continue")
	d.browser().post(link, nil).want(t, http.StatusBadGateway, "can't be reached", "Continue")
	d.browser().get(link).want(t, http.StatusOK, "Continue")

	if p := d.signInAsRole(connectors.RoleMember).get("/connectors/notes/credentials"); p.says("Diagnose") || p.says("/connect\"") {
		t.Error("a member is offered what is refused")
	}
}

func TestConnect_AccountFollowsCredentialMode(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	_, mcp := startProtectedServer(t, oauthtest.Behaviour{}, oauthtest.ResourceBehaviour{})
	b := d.signInAsRole(connectors.RoleAdmin)
	b.post("/agents", url.Values{"name": {"Support"}})
	b.addNotes(mcp.URL)
	b.post("/connectors/notes/agents/support/connect", nil).want(t, http.StatusConflict, "all agents share it.")
	b.post("/connectors/notes/agents/support/connect-link", nil).want(t, http.StatusConflict, "all agents share it.")
	d.addConnectorAt("Plain", mcp.URL)
	b.post("/connectors/plain/connect", nil).want(t, http.StatusConflict, "doesn't use OAuth.")
	b.post("/connectors/plain/diagnose", nil).want(t, http.StatusConflict, "doesn't use OAuth.")
}

func TestConnect_FailedSyncIsReported(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	_, mcp := startProtectedServer(t, oauthtest.Behaviour{}, oauthtest.ResourceBehaviour{
		Next: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "down", http.StatusInternalServerError) }),
	})
	b := d.signInAsRole(connectors.RoleAdmin)
	b.addNotes(mcp.URL)
	p := b.followCallback(b.followConsent(b.followConnect("/connectors/notes/connect")))
	p.want(t, http.StatusOK, "Connected “Notes”. Sync failed: ", "HTTP 500", "Reconnect")
	b.get("/connectors/notes/runs").want(t, http.StatusOK, "Failed")
}

func TestConnect_BrowserWaitIsBounded(t *testing.T) {
	t.Parallel()
	d := newDashboard(t, func(o *admin.Options) { o.SyncWait = 50 * time.Millisecond })
	asked, release := make(chan struct{}), make(chan struct{})
	var first sync.Once
	up := mcptest.Start(t, mcptest.Script{})
	_, mcp := startProtectedServer(t, oauthtest.Behaviour{}, oauthtest.ResourceBehaviour{Next: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		first.Do(func() { close(asked) })
		<-release
		up.ServeHTTP(w, r)
	})})
	b := d.signInAsRole(connectors.RoleAdmin)
	b.addNotes(mcp.URL)
	b.followCallback(b.followConsent(b.followConnect("/connectors/notes/connect"))).want(t, http.StatusOK, "Connected “Notes”. Syncing tools.")
	<-asked
	b.get("/connectors/notes").want(t, http.StatusOK, "Syncing")
	close(release)
}

func TestExpiringAccounts_AreListed(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	b := d.signInAsRole(connectors.RoleViewer)
	if b.get("/connectors").says("account to reconnect") {
		t.Error("foretold of nothing")
	}
	shared := d.addOAuthConnector(func(c *connectors.Draft) { c.Name = "Notes" })
	perAgent := d.addOAuthConnector(func(c *connectors.Draft) { c.Name, c.CredentialMode = "Mail", connectors.CredentialPerAgent })
	d.storeAccount(shared, nil, 5*time.Hour)
	d.storeAccount(perAgent, new(d.Agent(t).ID), 80*time.Hour)
	b.get("/connectors").want(t, http.StatusOK, "1 account to reconnect", "/connectors/"+shared.Slug+"/credentials#credential-shared", "ends", "in 5 hours")
	b.get("/connectors/"+shared.Slug+"/credentials").want(t, http.StatusOK, "Expires in 5 hours")
	d.ahead.Store(int64(6 * time.Hour))
	b.get("/connectors").want(t, http.StatusOK, "1 account to reconnect", "expired", "1 hour ago")
}

func TestAMachineSignsInByItself(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	as, mcp := startProtectedServer(t, oauthtest.Behaviour{}, oauthtest.ResourceBehaviour{})
	as.AddClient("machine", "the-machines-secret", nil)
	b := d.signInAsRole(connectors.RoleAdmin)
	p := b.addNotes(mcp.URL, "auth.type", "client_credentials", "auth.client_id", "machine", "auth.client_secret", "the-machines-secret", "auth.scopes", "notes:read notes:write")
	if p.Location != "/connectors/notes/start" {
		t.Fatalf("adding leads to %q (%d)\n%s", p.Location, p.Status, plainText(p.Body))
	}
	b.submit("/connectors/notes/sync_tools", nil).want(t, http.StatusOK, "Discovered 2 tools from 'Notes'.")
	b.get("/connectors/notes/credentials").want(t, http.StatusOK, "Stored", "machine", "notes:write", "Token expires", "Diagnose")
	b.post("/connectors/notes/diagnose", nil).want(t, http.StatusOK, "Authorization server found.", as.Issuer)
	b.get("/connectors/notes/settings").want(t, http.StatusOK, `value="notes:read notes:write"`, `value="machine"`)
	b.post("/connectors/notes/credential", url.Values{"client_secret": {""}}).want(t, http.StatusUnprocessableEntity, "Enter the client secret.")
	b.submit("/connectors/notes/credential/delete", nil).want(t, http.StatusOK, "Credential deleted.", "Not set")
}

func TestConnect_NewAuthTypeLeadsToAccounts(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	_, mcp := startProtectedServer(t, oauthtest.Behaviour{}, oauthtest.ResourceBehaviour{})
	b := d.signInAsRole(connectors.RoleAdmin)
	b.addNotes(mcp.URL, "auth.type", "none")
	edit := connectorForm("Notes", mcp.URL, "slug", "notes", "version", "1", "auth.type", "oauth2", "auth.scopes", "a b", "auth.no_resource", "true", "auth.resource", "")
	b.submit("/connectors/notes", edit).want(t, http.StatusOK, "Settings saved. Connect it.", "Not connected")
	b.get("/connectors/notes/settings").want(t, http.StatusOK, `value="a b"`, "Connect accounts on the Credentials page.")
	edit.Set("version", "2")
	edit.Set("auth.issuer", "nonsense")
	b.post("/connectors/notes", edit).want(t, http.StatusUnprocessableEntity, "Enter an https:// URL with a host.")
}
