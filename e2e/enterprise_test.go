//go:build e2e

package e2e_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"patchbay/internal/testing/pgtest"
)

// managedServerCount is how many MCP servers the organisation has.
const managedServerCount = 7

const serverSecret = "Patchbay's secret at the MCP servers"

// managedServer is an MCP server of peers/managed-servers.mjs, which takes the provider's identity assertions.
type managedServer struct{ Issuer, URL string }

// managedCounts are a server's requests for pages of a person, and what it issued.
type managedCounts struct {
	Pages    int
	Subjects []string // of the tokens
	Issued   []string // tokens, and the assertions for them
}

// startManagedServers starts servers that trust an issuer; their access tokens live for so many seconds.
func startManagedServers(t *testing.T, issuer string, count, seconds int, env ...string) []managedServer {
	t.Helper()
	env = append([]string{fmt.Sprint("COUNT=", count), "TRUSTED_ISSUER=" + issuer, fmt.Sprint("ACCESS_TOKEN_SECONDS=", seconds)}, env...)
	line := startPeer(t, env, "managed-servers.mjs").line(`{"servers":`)
	var started struct{ Servers []managedServer }
	if err := json.Unmarshal([]byte(line), &started); err != nil || len(started.Servers) != count {
		t.Fatalf("%s: %v", line, err)
	}
	return started.Servers
}

func (m managedServer) counts(t *testing.T) managedCounts {
	t.Helper()
	return readJSON[managedCounts](t, m.Issuer+"/admin/counts")
}

// clicks counts what a person presses, in all browsers that share it.
type clicks struct {
	mu sync.Mutex // guards n
	n  int
}

// RoundTrip counts forms. A link would be a GET: tests open none that a person would have to press.
func (c *clicks) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method == http.MethodPost {
		c.mu.Lock()
		c.n++
		c.mu.Unlock()
	}
	return localTransport.RoundTrip(r)
}

func (c *clicks) count() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.n
}

// enterprise is an installation of an organisation with a provider and MCP servers with enterprise-managed authorization.
type enterprise struct {
	*home
	s         *server
	c         client
	database  string
	provider  *identityProvider
	servers   []managedServer
	audiences map[string]map[string]string
	program   string // client id of the members' program
}

const (
	boss  = "boss@acme.example"
	pilot = "pilot@acme.example"
	grace = "grace@acme.example"
)

func newEnterprise(t *testing.T, of providerProgram, seconds int) *enterprise {
	t.Helper()
	w := &enterprise{database: pgtest.URL(t)}
	w.home = newHome(t, "DATABASE_URL="+w.database)
	w.env = append(w.env, "PATCHBAY_KEYSET="+w.run("keys", "new"))
	w.s = w.serve()
	w.s.setUp(newPerson(t))
	w.c = client{t: t, base: w.s.base, key: w.run("apikey", "create", "--tenant", "default", "--role", "owner", "--name", "tests")}
	w.provider = startProvider(t, of, w.s.base, map[string]known{
		boss: {Name: "Admin", Verified: true}, pilot: {Name: "Pilot", Verified: true}, grace: {Name: "Grace", Verified: true},
	})
	w.servers = startManagedServers(t, w.provider.Issuer, managedServerCount, seconds, "CLIENT_SECRET="+serverSecret)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, w.s.base+"/oauth/register", strings.NewReader(
		`{"client_name":"Gopher","redirect_uris":["http://127.0.0.1/callback"],"token_endpoint_auth_method":"none"}`))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	w.program, _ = postedJSON(t, req, http.StatusCreated)["client_id"].(string)
	w.audiences = map[string]map[string]string{"patchbay": {}, "program": {w.s.base: w.program}}
	for _, m := range w.servers {
		w.audiences["patchbay"][m.Issuer] = "patchbay"
	}
	w.provider.decide(w.audiences)
	w.setUpProvider()
	for i, m := range w.servers {
		w.c.must(http.StatusCreated, http.MethodPost, "/api/v1/connectors", object{
			"name": slugOf(i), "slug": slugOf(i), "url": m.URL, "auth": object{"type": "oauth2", "client_id": "patchbay", "client_secret": serverSecret},
			"credential_mode": "per_agent", "sync_interval_s": 0, "listen": "off", "retry_attempts": 0,
		})
	}
	return w
}

// slugOf is a connector's slug, by its server's index.
func slugOf(i int) string { return fmt.Sprint("server", i+1) }

// setUpProvider makes the provider the tenant's: an owner enters it, tests it and turns it on.
func (w *enterprise) setUpProvider() {
	w.t.Helper()
	w.c.must(http.StatusOK, http.MethodPatch, "/api/v1/sso", object{
		"issuer": w.provider.Issuer, "client_id": "patchbay", "client_secret": providerSecret, "joins": true, "default_role": "member",
		"managed_accounts": true, "managed_clients": true,
	})
	w.run("sso", "verify-domain", "--tenant", "default", "acme.example")
	v := newVisitor(w.t).open(w.s.base + "/login")
	v.send("/login", url.Values{"email": {ownerEmail}, "password": {ownerPassword}})
	v.send("/settings/sso/test", url.Values{}).goOn().agree(boss)
	if !strings.Contains(v.shown.body, "Connection works: signed in as "+boss) {
		w.t.Fatalf("the test of the provider ends at %s: %d %s", v.at.Redacted(), v.shown.status, v.shown.body)
	}
	w.c.must(http.StatusOK, http.MethodPatch, "/api/v1/sso", object{"enabled": true})
}

// join signs a member in at the provider, once.
func (w *enterprise) join(email string) (*visitor, *clicks) {
	w.t.Helper()
	v, pressed := newVisitor(w.t), &clicks{}
	v.client.Transport = pressed
	v.open(w.s.base + "/login")
	v.send("/login/sso", url.Values{"email": {email}}).goOn().agree(email)
	if v.shown.status != http.StatusOK || v.at.Path != "/" {
		w.t.Fatalf("the sign-in ends at %s: %d %s", v.at.Redacted(), v.shown.status, v.shown.body)
	}
	return v, pressed
}

// arrive is the member's program at the gateway: it has an identity assertion of the provider, and no page is shown. An admin grants its
// agent all servers.
func (w *enterprise) arrive(v *visitor) (a agent, slug string) {
	w.t.Helper()
	given := w.redeem(w.provider.exchange(http.StatusOK, w.provider.programIDToken(v), w.s.base))
	if _, refreshes := given["refresh_token"]; refreshes {
		w.t.Error("the program got a refresh token: the provider is not asked again")
	}
	a = agent{t: w.t, base: w.s.base}
	a.token, _ = given["access_token"].(string)
	items, _ := w.c.must(http.StatusOK, http.MethodGet, "/api/v1/agents?sort=-created_at&limit=1", nil)["items"].([]any)
	newest, _ := items[0].(object)
	slug, _ = newest["slug"].(string)
	if newest["member"] == nil {
		w.t.Fatalf("the agent is %v", newest)
	}
	w.c.must(http.StatusOK, http.MethodPatch, "/api/v1/agents/"+slug, object{"approval": "auto"})
	for i := range w.servers {
		w.c.must(http.StatusNoContent, http.MethodPut, "/api/v1/agents/"+slug+"/connectors/"+slugOf(i), object{"tools": "all"})
	}
	return a, slug
}

// redeem is what the gateway's token endpoint gives for an exchange's answer.
func (w *enterprise) redeem(exchanged object) object {
	w.t.Helper()
	assertion, _ := exchanged["access_token"].(string)
	form := url.Values{"grant_type": {jwtBearerGrant}, "client_id": {w.program}, "assertion": {assertion}, "resource": {w.s.base + "/mcp"}}
	return postedForm(w.t, w.s.base+"/oauth/token", form, http.StatusOK)
}

// echo calls a tool of the server with that index.
func (w *enterprise) echo(a agent, i int) error {
	message, header := modern("tools/call", fmt.Sprintf(`"name":"mcp_%s__echo","arguments":{"message":"to %[1]s"}`, slugOf(i)))
	status, _, r, err := a.try(w.t.Context(), "/mcp", message, header...)
	switch {
	case err != nil:
		return err
	case !strings.Contains(string(r.Result), "Echo: to "+slugOf(i)):
		return fmt.Errorf("%s: %d %s %+v", slugOf(i), status, r.Result, r.Error)
	}
	return nil
}

// wantAll calls all servers.
func (w *enterprise) wantAll(a agent, caller string) {
	w.t.Helper()
	for i := range w.servers {
		if err := w.echo(a, i); err != nil {
			w.t.Errorf("%s: %v", caller, err)
		}
	}
}

// TestEnterprise_NewMemberUntilSuspended is a member's first sign-in, with which the agent calls tools of seven servers, and the end: what
// the provider suspends is refused at all seven within one access token's life. Another member stays, and a new
// sign-in after the suspension is enough.
func TestEnterprise_NewMemberUntilSuspended(t *testing.T) {
	t.Parallel()
	for _, of := range providerPrograms {
		t.Run(of.name, func(t *testing.T) {
			t.Parallel()
			const life = 5
			w := newEnterprise(t, of, life)
			first, _ := w.join(pilot)
			second, slug := w.arrive(first)
			for i := range w.servers { // lists the tools, as every admin does once
				w.c.must(http.StatusOK, http.MethodPost, "/connectors/"+slugOf(i)+"/sync_tools", object{"agent": slug})
			}

			v, pressed := w.join(grace)
			atSignIn := pressed.count()
			pages := w.provider.counts().Authorize
			member, slug := w.arrive(v)
			w.wantAll(member, "the new member")
			if n := pressed.count() - atSignIn; n != 0 {
				t.Errorf("%d clicks after the sign-in", n)
			}
			if n := w.provider.counts().Authorize - pages; n != 1 { // of the program, without a page
				t.Errorf("%d sign-ins at the provider after the first", n)
			}
			w.wantNoPages()
			w.wantBothSubjects()
			w.wantNothingPlain()

			idToken := w.provider.programIDToken(v)
			w.provider.decide(w.audiences, grace)
			w.wantEnd(member, life*time.Second)
			w.wantReasons(slug)
			if refused := w.provider.exchange(http.StatusBadRequest, idToken, w.s.base); refused["error"] != of.code {
				t.Errorf("the suspended member's program is answered %v", refused)
			}
			w.wantAll(second, "the other member")
			w.provider.decide(w.audiences)
			w.join(grace)
			w.wantAll(member, "the member, after a new sign-in")
			if n := w.provider.counts().Refreshes; (n > 0) != of.refreshes {
				t.Errorf("%d refresh tokens were exchanged", n)
			}
		})
	}
}

// wantNoPages fails if a person was asked anything by a server or by Patchbay.
func (w *enterprise) wantNoPages() {
	w.t.Helper()
	for i, m := range w.servers {
		if n := m.counts(w.t).Pages; n != 0 {
			w.t.Errorf("%s: %d pages", slugOf(i), n)
		}
	}
	log := w.s.stderr.text()
	if !strings.Contains(log, `"route":"/oauth/token"`) || !strings.Contains(log, `"route":"/login/sso"`) {
		w.t.Error("the log lacks requests: the sweep shows nothing")
	}
	for _, route := range []string{"/oauth/authorize", "/oauth/callback", "/connect/"} {
		if strings.Contains(log, `"route":"`+route) {
			w.t.Errorf("%s was opened", route)
		}
	}
}

// wantBothSubjects fails unless each server issued tokens to the same two people of the provider.
func (w *enterprise) wantBothSubjects() {
	w.t.Helper()
	var all []string
	for i, m := range w.servers {
		of := slices.Compact(slices.Sorted(slices.Values(m.counts(w.t).Subjects)))
		if all = slices.Compact(slices.Sorted(slices.Values(append(all, of...)))); len(of) != 2 || len(all) != 2 {
			w.t.Errorf("%s issued tokens to %v", slugOf(i), of)
		}
	}
}

// wantNothingPlain fails if a token or an assertion of a server is in the database or in the log.
func (w *enterprise) wantNothingPlain() {
	w.t.Helper()
	rows := dump(w.t, w.database)
	if got := sealedTables(rows); !slices.Contains(got, "credentials") || !slices.Contains(got, "sso_tokens") {
		w.t.Errorf("secrets are sealed in %v: the sweep shows nothing", got)
	}
	var all strings.Builder
	for _, text := range rows {
		all.WriteString(text)
	}
	places := map[string]string{"the database": all.String(), "the log": w.s.stderr.text()}
	for i, m := range w.servers {
		for _, value := range m.counts(w.t).Issued {
			lookFor(w.t, value, "a token or an assertion for "+slugOf(i), places)
		}
	}
}

// wantEnd calls all servers until each refuses, and fails if one took longer than a token lives.
func (w *enterprise) wantEnd(a agent, life time.Duration) {
	w.t.Helper()
	suspended := time.Now()
	last := make([]time.Time, len(w.servers)) // of an answered call
	eventually(w.t, func() error {
		answered := 0
		for i := range w.servers {
			began := time.Now()
			if w.echo(a, i) == nil {
				answered++
				last[i] = began
			}
		}
		if answered > 0 {
			return fmt.Errorf("%d servers still answer %s after the suspension", answered, time.Since(suspended))
		}
		return nil
	})
	for i, at := range last {
		if late := at.Sub(suspended); late > life {
			w.t.Errorf("%s answered a call %s after the suspension", slugOf(i), late)
		}
	}
	if refused := w.provider.counts().Refused; refused < len(w.servers) {
		w.t.Errorf("the provider refused %d exchanges", refused)
	}
}

// wantReasons fails unless each of the agent's accounts says that the provider refuses.
func (w *enterprise) wantReasons(slug string) {
	w.t.Helper()
	id := w.c.must(http.StatusOK, http.MethodGet, "/api/v1/agents/"+slug, nil)["id"]
	for i := range w.servers {
		items, _ := w.c.must(http.StatusOK, http.MethodGet, "/api/v1/connectors/"+slugOf(i)+"/credentials", nil)["items"].([]any)
		found := false
		for _, item := range items {
			account, _ := item.(object)
			if account["agent_id"] != id {
				continue
			}
			found = true
			if said, _ := account["error"].(string); !strings.Contains(said, "sign-in provider refuses access") {
				w.t.Errorf("%s: the account is %v and says %q", slugOf(i), account["status"], said)
			}
		}
		if !found {
			w.t.Errorf("%s: no account of %s", slugOf(i), slug)
		}
	}
}
