package api_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"patchbay/internal/auth"
	"patchbay/internal/connect"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/mcp/mcptest"
	"patchbay/internal/oauth/oauthtest"
	"patchbay/internal/secret"
	"patchbay/internal/store"
	"patchbay/internal/testing/testclient"
)

// oauthAccount is an MCP server behind an authorization server, and a connector of it.
type oauthAccount struct {
	*world
	as        *oauthtest.Server
	connector connectors.Connector
	path      string
}

func newAccount(t *testing.T, opts ...func(*connectors.Draft)) *oauthAccount {
	t.Helper()
	return newAccountAt(t, mcptest.Start(t, mcptest.Script{Tools: mcptest.Tools(3)}), opts...)
}

// newAccountAt is newAccount with a handler for authorized requests.
func newAccountAt(t *testing.T, answers http.Handler, opts ...func(*connectors.Draft)) *oauthAccount {
	t.Helper()
	a := &oauthAccount{world: newWorld(t), as: oauthtest.Start(t, oauthtest.Behaviour{})}
	server := a.as.Protect(t, oauthtest.ResourceBehaviour{Next: answers})
	a.connector = a.Connector(t, append([]func(*connectors.Draft){func(d *connectors.Draft) {
		d.URL, d.Auth.Type = server.URL, connectors.AuthOAuth2
	}}, opts...)...)
	a.path = "/api/v1/connectors/" + a.connector.Slug
	return a
}

func perAgent(d *connectors.Draft) { d.CredentialMode = connectors.CredentialPerAgent }

// callInSession sends a request with a session's cookie.
func (w *world) callInSession(t *testing.T, cookie *http.Cookie, method, path string, body any) reply {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), method, path, bodyReader(t, body))
	r.Header.Set("Content-Type", "application/json")
	r.AddCookie(cookie)
	return w.serve(t, r)
}

// connectAccount connects an account as an admin in a browser, and returns the result.
func (a *oauthAccount) connectAccount(t *testing.T, body any) connect.Connection {
	t.Helper()
	m := a.Member(t, connectors.RoleAdmin)
	cookie := a.signIn(t, m.UserID)
	started := a.callInSession(t, cookie, http.MethodPost, a.path+"/connect", body).want(http.StatusOK)
	done, err := a.finishConnect(t, started["authorize_url"].(string), m, cookie.Value)
	if err != nil {
		t.Fatal(err)
	}
	return done
}

// finishConnect consents at the authorization server, and opens the callback with a session.
func (a *oauthAccount) finishConnect(t *testing.T, authorizeURL string, m connectors.Member, session string) (connect.Connection, error) {
	t.Helper()
	client := testclient.New(t)
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	res, err := client.Get(authorizeURL)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	back, err := res.Location()
	if err != nil || !strings.HasPrefix(back.String(), baseURL+"/oauth/callback?") {
		t.Fatalf("sent back to %v, %v", back, err)
	}
	self, err := a.Door().Self(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return a.connect.Finish(t.Context(), back.Query(), connect.BrowserBindings{
		Session: connect.SessionBinding(session),
		Person:  &auth.Actor{Kind: auth.KindPerson, Tenant: self, Role: m.Role, UserID: &m.UserID, Name: m.Name},
	})
}

func TestAKeyGetsALinkAndAsksNobody(t *testing.T) {
	t.Parallel()
	a := newAccount(t)
	got := a.call(t, a.createKey(t, connectors.RoleAdmin), http.MethodPost, a.path+"/connect", nil).want(http.StatusOK)
	if authorize, there := got["authorize_url"]; authorize != nil || !there {
		t.Errorf("authorize_url %v", authorize)
	}
	if link := got["connect_url"].(string); !strings.HasPrefix(link, baseURL+"/connect/") || len(link) < len(baseURL)+50 {
		t.Errorf("connect_url %s", link)
	}
	ends, err := time.Parse(time.RFC3339, got["expires_at"].(string))
	if life := time.Until(ends); err != nil || life < 23*time.Hour || life > 25*time.Hour {
		t.Errorf("expires_at %v: %v", got["expires_at"], err)
	}
	if n := a.as.Count(); n != 0 {
		t.Errorf("the authorization server was asked %d times", n)
	}
	again := a.call(t, a.createKey(t, connectors.RoleAdmin), http.MethodPost, a.path+"/connect", `{}`).want(http.StatusOK)
	if again["connect_url"] == got["connect_url"] {
		t.Error("the same link twice")
	}
}

func TestASessionConnectsAnAccount(t *testing.T) {
	t.Parallel()
	a := newAccount(t)
	done := a.connectAccount(t, `{"agent": null, "return_to": "/connectors?q=tracker"}`)
	if done.ReturnTo != "/connectors?q=tracker" || done.Run == nil || done.Agent != nil {
		t.Errorf("%+v", done)
	}
	viewer := a.createKey(t, connectors.RoleViewer)
	list := a.call(t, viewer, http.MethodGet, a.path+"/credentials", nil).want(http.StatusOK)["items"].([]any)
	if len(list) != 1 {
		t.Fatalf("%v", list)
	}
	stored := list[0].(map[string]any)
	if stored["type"] != "oauth2" || stored["status"] != "active" || stored["agent_id"] != nil || !isTime(stored["expires_at"]) {
		t.Errorf("%v", stored)
	}
}

func TestAFlowBelongsToItsSession(t *testing.T) {
	t.Parallel()
	a := newAccount(t)
	m := a.Member(t, connectors.RoleAdmin)
	started := a.callInSession(t, a.signIn(t, m.UserID), http.MethodPost, a.path+"/connect", nil).want(http.StatusOK)
	_, err := a.finishConnect(t, started["authorize_url"].(string), m, a.signIn(t, m.UserID).Value)
	if !fault.Is(err, fault.Malformed) || a.as.Count(oauthtest.Exchange) != 0 {
		t.Errorf("another session of the same person: %v, %d token requests", err, a.as.Count(oauthtest.Exchange))
	}
}

func TestAnAgentsAccountIsItsOwn(t *testing.T) {
	t.Parallel()
	a := newAccount(t, perAgent)
	agent, other := a.Agent(t), a.Agent(t)
	done := a.connectAccount(t, map[string]any{"agent": agent.Slug})
	if done.Agent == nil || done.Agent.ID != agent.ID {
		t.Errorf("%+v", done.Agent)
	}
	admin := a.createKey(t, connectors.RoleAdmin)
	a.call(t, admin, http.MethodDelete, a.path+"/agents/"+other.Slug+"/credential", nil).problem(http.StatusNotFound, "not-found")
	if got := a.call(t, admin, http.MethodDelete, a.path+"/agents/"+agent.Slug+"/credential", nil); got.status != http.StatusNoContent {
		t.Fatalf("%d %s", got.status, got.body)
	}
	if a.as.Count(oauthtest.Revoke) != 1 {
		t.Error("the authorization server was not told")
	}
	if list := a.call(t, admin, http.MethodGet, a.path+"/credentials", nil).want(http.StatusOK)["items"].([]any); len(list) != 0 {
		t.Errorf("%v", list)
	}
}

func TestWhatCannotBeConnectedIsRefused(t *testing.T) {
	t.Parallel()
	a := newAccount(t)
	admin := a.createKey(t, connectors.RoleAdmin)
	agent := a.Agent(t)
	bearer := "/api/v1/connectors/" + a.Connector(t, func(d *connectors.Draft) { d.Auth.Type = connectors.AuthBearer }).Slug
	each := "/api/v1/connectors/" + a.Connector(t, perAgent, func(d *connectors.Draft) { d.Auth.Type = connectors.AuthOAuth2 }).Slug
	theirs := a.AgentIn(t, a.Other)
	for _, test := range []struct {
		path, body string
		status     int
	}{
		{bearer, ``, http.StatusConflict},
		{each, ``, http.StatusConflict},
		{each, `{"agent": null}`, http.StatusConflict},
		{a.path, `{"agent": "` + agent.Slug + `"}`, http.StatusConflict},
		{each, `{"agent": "nobody"}`, http.StatusNotFound},
		{each, `{"agent": "` + theirs.ID.String() + `"}`, http.StatusNotFound},
		{each, `{"agent": "` + agent.ID.String() + `"}`, http.StatusOK},
		{a.path, `{"return_to": null}`, http.StatusOK},
		{a.path, `{"return_to": ""}`, http.StatusOK},
		{a.path, `{"return_to": "https://evil.example/"}`, http.StatusUnprocessableEntity},
		{a.path, `{"return_to": "//evil.example/"}`, http.StatusUnprocessableEntity},
		{a.path, `{"return_to": "/\\evil.example/"}`, http.StatusUnprocessableEntity},
		{a.path, `{"return_to": "connectors"}`, http.StatusUnprocessableEntity},
		{a.path, `{"redirect": "/"}`, http.StatusUnprocessableEntity},
		{a.path, `{"agent": 1}`, http.StatusUnprocessableEntity},
		{a.path, `{`, http.StatusBadRequest},
		{"/api/v1/connectors/nowhere", `{"return_to": "//evil.example/"}`, http.StatusNotFound},
	} {
		if got := a.call(t, admin, http.MethodPost, test.path+"/connect", test.body); got.status != test.status {
			t.Errorf("%s %s: %d, want %d: %s", test.path, test.body, got.status, test.status, got.body)
		}
	}
}

func TestAServerThatFailsIsToldToAPersonAtOnce(t *testing.T) {
	t.Parallel()
	a := newAccount(t)
	a.as.Stop()
	cookie := a.signIn(t, a.Member(t, connectors.RoleAdmin).UserID)
	a.callInSession(t, cookie, http.MethodPost, a.path+"/connect", nil).problem(http.StatusBadGateway, "upstream")
	a.call(t, a.createKey(t, connectors.RoleAdmin), http.MethodPost, a.path+"/connect", nil).want(http.StatusOK)
}

func TestAMissingAccountSaysWhereItIsConnected(t *testing.T) {
	t.Parallel()
	a := newAccount(t)
	member := a.createKey(t, connectors.RoleMember)
	for _, path := range []string{a.path + "/sync_tools", "/connectors/" + a.connector.Slug + "/sync_tools"} {
		problem := a.call(t, member, http.MethodPost, path, nil).problem(http.StatusConflict, "credential-required")
		link, _ := problem["connect_url"].(string)
		if !strings.HasPrefix(link, baseURL+"/connect/") {
			t.Errorf("%s: connect_url %q", path, link)
		}
	}
	a.connectAccount(t, nil)
	run := a.call(t, member, http.MethodPost, a.path+"/sync_tools", nil).want(http.StatusOK)
	if run["tools_total"] != 3.0 {
		t.Errorf("%v", run)
	}
}

func TestConnect_ServerThatAsksForMoreScopesEnds(t *testing.T) {
	t.Parallel()
	a := newAccountAt(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("WWW-Authenticate", `Bearer error="insufficient_scope", scope="more"`)
		w.WriteHeader(http.StatusForbidden)
	}))
	member := a.createKey(t, connectors.RoleMember)
	for _, mendable := range []bool{true, true, false} {
		a.connectAccount(t, nil)
		problem := a.call(t, member, http.MethodPost, a.path+"/sync_tools", nil).problem(http.StatusConflict, "credential-required")
		if link, there := problem["connect_url"]; there != mendable {
			t.Errorf("%s: connect_url %v", problem["detail"], link)
		}
	}
}

func TestConnect_MissingAccountIsTheAgents(t *testing.T) {
	t.Parallel()
	a := newAccount(t, perAgent)
	member, agent := a.createKey(t, connectors.RoleMember), a.Agent(t)
	unnamed := a.call(t, member, http.MethodPost, a.path+"/sync_tools", nil).problem(http.StatusConflict, "credential-required")
	if link, there := unnamed["connect_url"]; there {
		t.Errorf("nobody knows whose account, and connect_url is %v", link)
	}
	named := a.call(t, member, http.MethodPost, a.path+"/sync_tools", map[string]any{"agent": agent.Slug}).problem(http.StatusConflict, "credential-required")
	token, ok := strings.CutPrefix(named["connect_url"].(string), baseURL+"/connect/")
	if !ok {
		t.Fatalf("connect_url %v", named["connect_url"])
	}
	if page, err := a.connect.ReadLink(t.Context(), secret.Text(token)); err != nil || page.Agent != agent.Name {
		t.Errorf("%+v, %v", page, err)
	}
}

func TestConnect_MissingAccountIsThatOfTheGrant(t *testing.T) {
	t.Parallel()
	a := newAccount(t, perAgent)
	agent := a.Agent(t)
	for _, name := range []string{"home", "work"} {
		err := a.Door().Accounts().SaveGrant(t.Context(), store.NewGrant{
			ConnectorID: a.connector.ID, AgentID: &agent.ID, Name: name, Origin: a.connector.CredentialOrigin(), GrantTokens: store.GrantTokens{AccessToken: "token"},
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	err := a.Door().Agents().SetGrant(t.Context(), connectors.Grant{AgentID: agent.ID, ConnectorID: a.connector.ID, AllTools: true, Accounts: []string{"work"}})
	if err != nil {
		t.Fatal(err)
	}
	g, err := a.St.Vault(a.Tenant).NamedGrant(t.Context(), a.connector.ID, &agent.ID, "work")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.St.Vault(a.Tenant).RefuseGrant(t.Context(), g.ID, g.Version, g.Tokens.Meta, "It ended.", nil); err != nil {
		t.Fatal(err)
	}
	problem := a.call(t, a.createKey(t, connectors.RoleAdmin), http.MethodPost, a.path+"/sync_tools", map[string]any{"agent": agent.Slug}).
		problem(http.StatusConflict, "credential-required")
	url, _ := problem["connect_url"].(string)
	token, ok := strings.CutPrefix(url, baseURL+"/connect/")
	if !ok {
		t.Fatalf("connect_url %q", url)
	}
	if page, err := a.connect.ReadLink(t.Context(), secret.Text(token)); err != nil || page.Account != "work" {
		t.Errorf("%+v, %v", page, err)
	}
}
