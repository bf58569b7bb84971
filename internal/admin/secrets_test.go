//go:build !race

// Requests one after the other: the race detector finds nothing here and takes ten times as long.

package admin_test

import (
	"encoding/base64"
	"encoding/hex"
	"html"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"patchbay/internal/connectors"
	"patchbay/internal/mcp/mcptest"
	"patchbay/internal/oauth/oauthtest"
)

func TestNoPageAndNoLogLineHoldsASecret(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	const shared, ofAgent, basic = "sEcret-shared-token-0001", "sEcret-agent-key-0002", "sEcret-password-0003"
	up := mcptest.Start(t, mcptest.Script{Bearer: shared, Tools: []string{mcptest.Tool("search")}})
	echo := mcptest.Start(t, mcptest.Script{On: map[string]mcptest.Handler{
		"initialize": func(w http.ResponseWriter, r *http.Request, _ mcptest.Call) { // a server that repeats its input
			http.Error(w, r.Header.Get("X-Api-Key")+r.Header.Get("Authorization"), http.StatusForbidden)
		},
	}})
	b := d.signInAsRole(connectors.RoleOwner)
	var answers []string
	send := func(path string, form url.Values) {
		p := b.post(path, form)
		answers = append(answers, p.Body+p.Location)
	}
	send("/agents", url.Values{"name": {"Support"}})
	send("/connectors", connectorForm("Linear", up.URL, "auth.type", "bearer", "auth.token", shared))
	send("/connectors", connectorForm("Echo", echo.URL, "auth.type", "api_key", "credential_mode", "per_agent"))
	send("/connectors/echo/agents/support/credential", url.Values{"key": {ofAgent}})
	send("/connectors", connectorForm("Basic", echo.URL, "auth.type", "basic", "auth.username", "ann", "auth.password", basic))
	token := b.post("/agents/support/tokens", url.Values{"name": {"laptop"}})
	send("/agents/support/connectors/linear", url.Values{"all": {"true"}, "approval": {"auto"}})
	key := b.post("/api-keys", url.Values{"name": {"nightly"}, "role": {"viewer"}})
	send("/connectors/linear/sync_tools", nil)
	send("/connectors/echo/sync_tools", url.Values{"agent": {"support"}})
	send("/connectors/basic/sync_tools", nil)
	send("/connectors/test", connectorForm("Tried", echo.URL, "auth.type", "bearer", "auth.token", shared))
	send("/connectors", connectorForm("", "no url", "auth.type", "basic", "auth.username", "ann", "auth.password", basic))
	send("/connectors/linear", connectorForm("", up.URL, "auth.type", "bearer", "auth.token", shared))
	send("/members", url.Values{"email": {"nonsense"}, "password": {password.Reveal()}, "role": {"viewer"}})
	send("/account/password", url.Values{"current": {password.Reveal()}, "password": {"short"}})

	for part, echo := range mcptest.Echoes() {
		up := mcptest.Start(t, mcptest.Script{On: map[string]mcptest.Handler{"initialize": echo}})
		path := "/connectors/repeat-" + part
		send("/connectors", connectorForm("Repeat "+part, up.URL, "auth.type", "bearer", "auth.token", shared, "retry_attempts", "0"))
		send("/connectors/test", connectorForm("Tried", up.URL, "auth.type", "basic", "auth.username", "ann", "auth.password", basic, "retry_attempts", "0"))
		answers = append(answers, b.submit(path+"/sync_tools", nil).Body, b.submit(path+"/ping", nil).Body)
		c, err := d.Door().Connectors().Get(t.Context(), connectors.Ref("repeat-"+part))
		if err != nil {
			t.Fatal(err)
		}
		for _, run := range d.listRuns(c.ID) {
			answers = append(answers, b.get(path+"/runs/"+run.ID.String()).Body)
		}
	}
	if _, err := d.St.System().NoticeConditions(t.Context(), 200); err != nil {
		t.Fatal(err)
	}

	as, notes := startProtectedServer(t, oauthtest.Behaviour{}, oauthtest.ResourceBehaviour{})
	const ofClient, ofMachine = "sEcret-client-0004", "sEcret-machine-0005"
	as.AddClient("by-hand", ofClient, nil, d.server.URL+"/oauth/callback")
	as.AddClient("machine", ofMachine, nil)
	send("/connectors", connectorForm("Notes", notes.URL, "auth.type", "oauth2", "auth.client_id", "by-hand", "auth.client_secret", ofClient))
	send("/connectors/notes/diagnose", nil)
	callback := b.followConsent(b.followConnect("/connectors/notes/connect"))
	send("/connectors/notes/connect-link", nil)
	answers = append(answers, b.followCallback(callback).Body, b.get(callback).Body)
	send("/connectors", connectorForm("", notes.URL, "auth.type", "oauth2", "auth.client_secret", ofClient))
	send("/connectors", connectorForm("Machine", notes.URL, "auth.type", "client_credentials", "auth.client_id", "machine", "auth.client_secret", ofMachine))
	send("/connectors/machine/sync_tools", nil)
	send("/connectors/machine/credential", url.Values{"client_id": {"machine "}, "client_secret": {ofMachine}, "private_key": {ofMachine}})

	secrets := map[string]string{"client's secret": ofClient, "machine's secret": ofMachine, "shared token": shared, "agent's key": ofAgent, "password of basic": basic, "own password": password.Reveal()}
	if secrets["agent's token"] = between(token.Body, `data-copy="pb_agent_`, `"`); secrets["agent's token"] == "" {
		t.Fatalf("no token on the page that makes it:\n%s", plainText(token.Body))
	}
	if secrets["API key"] = readAPIKey(key.Body); secrets["API key"] == "" {
		t.Fatalf("no key on the page that makes it:\n%s", plainText(key.Body))
	}
	for i, issued := range as.Issued() {
		secrets["token or code "+strconv.Itoa(i)] = issued
	}
	state, _ := url.Parse(callback)
	secrets["state"] = state.Query().Get("state")
	sweep := func(what, text string) {
		text = html.UnescapeString(text)
		joined := strings.Join(strings.Fields(text), "")
		for name, secret := range secrets {
			encoded := strings.TrimRight(base64.StdEncoding.EncodeToString([]byte(secret)), "=")
			if strings.Contains(text, secret) || strings.Contains(joined, secret) || strings.Contains(joined, encoded) || strings.Contains(joined, hex.EncodeToString([]byte(secret))) {
				t.Errorf("%s holds the %s", what, name)
			}
		}
	}
	for route := range routeRoles {
		method, pattern, _ := strings.Cut(route, " ")
		if method != http.MethodGet || pattern == "/events" {
			continue
		}
		for _, slug := range []string{"linear", "echo", "basic", "notes", "machine"} {
			ids := things{connector: slug, agent: "support", tool: "search"}
			sweep(route, b.get(ids.fill(pattern)).Body)
		}
	}
	for _, answer := range answers {
		sweep("an answer to a form", answer)
	}
	sweep("the log", d.log.String())
	sweep("the database", d.RowTexts(t))
	if quoted := strings.Count(strings.Join(answers, ""), mcptest.EchoMark); quoted < 12 || strings.Contains(d.log.String(), mcptest.EchoMark) {
		t.Errorf("%d pages quote the server, or the log does", quoted)
	}
	if !strings.Contains(d.log.String(), "request answered") {
		t.Error("nothing was logged")
	}
}

// readAPIKey finds the API key on its page.
func readAPIKey(body string) string {
	start := strings.Index(body, "pb_key_")
	for start >= 0 {
		rest := body[start:]
		end := strings.IndexFunc(rest, func(c rune) bool { return c != '_' && (c < '0' || c > '9') && (c < 'a' || c > 'z') })
		if text := rest[:max(end, 0)]; strings.Count(text, "_") == 4 {
			return text
		}
		next := strings.Index(rest[1:], "pb_key_")
		if next < 0 {
			return ""
		}
		start += 1 + next
	}
	return ""
}

func TestAPIKeyIsShownOnceAndRevoked(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	b := d.signInAsRole(connectors.RoleOwner)
	b.post("/api-keys", url.Values{"name": {""}, "role": {"viewer"}, "expires_at": {"2099-01-31"}}).
		want(t, http.StatusUnprocessableEntity, "Must be 1–100 characters.")
	b.post("/api-keys", url.Values{"name": {"k"}, "role": {"viewer"}, "expires_at": {"tomorrow"}}).
		want(t, http.StatusUnprocessableEntity, "Enter a date like 2027-01-31.")
	p := b.post("/api-keys", url.Values{"name": {"nightly"}, "role": {"member"}, "expires_at": {"2099-01-31"}})
	p.want(t, http.StatusOK, "nightly", "on 1 Feb 2099", d.server.URL+"/api/v1/connectors")
	text := readAPIKey(p.Body)
	a, err := d.auth.FromBearer(t.Context(), "Bearer "+text)
	if err != nil || a.Role != connectors.RoleMember {
		t.Fatalf("the key opens %+v, %v", a, err)
	}
	if b.get("/api-keys").says(text) {
		t.Error("shown twice")
	}
	b.submit("/api-keys/"+a.KeyID.String()+"/revoke", nil).want(t, http.StatusOK, "API key revoked.", "Revoked")
	if _, err := d.auth.FromBearer(t.Context(), "Bearer "+text); err == nil {
		t.Error("a revoked key opens")
	}
}

func TestMembersAreManaged(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	owner := d.createMember(connectors.RoleOwner)
	b := d.browser()
	b.signIn(owner.Email)
	b.post("/members", url.Values{"email": {"nonsense"}, "password": {"short"}, "role": {"viewer"}}).
		want(t, http.StatusUnprocessableEntity, "Enter an email address.", "Must be 10–200 characters.")
	b.submit("/members", url.Values{"email": {"bo@example.com"}, "name": {"Bo"}, "password": {password.Reveal()}, "role": {"viewer"}}).
		want(t, http.StatusOK, "bo@example.com is now a member.", "Bo")
	bo := d.browser()
	bo.signIn("bo@example.com")
	id := d.userID("bo@example.com")
	b.submit("/members/"+id+"/role", url.Values{"role": {"owner"}}).want(t, http.StatusOK, "Role changed.")
	bo.get("/settings").want(t, http.StatusOK)
	b.submit("/members/"+id+"/delete", nil).want(t, http.StatusOK, "Member removed.")
	if p := bo.get("/connectors"); p.Status != http.StatusSeeOther {
		t.Errorf("a removed member gets %d", p.Status)
	}
	b.submit("/members/"+owner.UserID.String()+"/delete", nil).want(t, http.StatusOK, owner.Email)
}

func (d *dashboard) userID(email string) string {
	d.t.Helper()
	m, err := d.Door().SSO().MemberByEmail(d.t.Context(), email)
	if err != nil {
		d.t.Fatal(err)
	}
	return m.UserID.String()
}

func TestTenantIsRenamed(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	b := d.signInAsRole(connectors.RoleOwner)
	b.post("/settings", url.Values{"name": {""}}).want(t, http.StatusUnprocessableEntity, "Must be 1–100 characters.")
	b.submit("/settings", url.Values{"name": {"Umbrella"}}).want(t, http.StatusOK, "Settings saved.", "Umbrella")
}
