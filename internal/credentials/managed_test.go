package credentials_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/credentials"
	"patchbay/internal/fault"
	"patchbay/internal/oauth"
	"patchbay/internal/safehttp"
	"patchbay/internal/secret"
	"patchbay/internal/store"
	"patchbay/internal/testing/fixture"
)

const idJAG = "urn:ietf:params:oauth:token-type:id-jag"

// enterprise is an identity provider, and an MCP server with an authorization server that takes its assertions.
type enterprise struct {
	*fixture.World
	provider, server *httptest.Server
	connector        connectors.Connector
	member           connectors.Member
	agent            connectors.Agent
	oauth            *oauth.Client

	mu           sync.Mutex // guards the fields below
	exchanges    []url.Values
	redemptions  []url.Values
	tokens       int
	clientSecret string         // of the last request for a token
	leave        func()         // called by a request for metadata, if set
	expiresIn    any            // of a token; nil: one hour, 0: not said
	refuse       string         // error of the provider; empty: none
	refuseServer string         // error of the authorization server; empty: none
	answer       map[string]any // of the provider, over the default
	resource     map[string]any // the MCP server's metadata, over the default
	metadata     map[string]any // of the authorization server, over the default
}

// newEnterprise has a member with a sign-in and a personal agent.
func newEnterprise(t *testing.T, opts ...func(*enterprise)) *enterprise {
	t.Helper()
	p := safehttp.New(safehttp.Options{Mode: safehttp.Local})
	t.Cleanup(p.Client().CloseIdleConnections)
	w := &enterprise{World: fixture.New(t), oauth: &oauth.Client{HTTP: p.Client(), CheckURL: p.CheckURL}}
	w.provider = httptest.NewServer(http.HandlerFunc(w.exchange))
	t.Cleanup(w.provider.Close)
	w.server = httptest.NewServer(http.HandlerFunc(w.authorize))
	t.Cleanup(w.server.Close)
	for _, opt := range opts {
		opt(w)
	}
	w.connector = w.Connector(t, func(d *connectors.Draft) {
		d.URL, d.Auth.Type, d.CredentialMode, d.OAuth.ClientID = w.server.URL+"/mcp", connectors.AuthOAuth2, connectors.CredentialPerAgent, "patchbay at the server"
	})
	must(t, w.Door().Connectors().SetClientSecret(t.Context(), w.connector, "secret of the client"))
	w.member, w.agent = w.Member(t, connectors.RoleMember), w.Agent(t)
	must(t, w.Door().Agents().MakePersonal(t.Context(), w.member.UserID, w.agent.ID))
	w.configure(t, true)
	w.signIn(t, time.Hour, "")
	return w
}

func (w *enterprise) configure(t *testing.T, managed bool) {
	t.Helper()
	must(t, w.Door().SSO().Save(t.Context(), connectors.SSO{
		Issuer: w.provider.URL, ClientID: "patchbay at the provider", GroupsClaim: "groups", Enabled: true, TestedAt: new(time.Now()), ManagedAccounts: managed,
	}, "secret at the provider"))
}

// signIn stores what a sign-in leaves: an ID token that is valid for so long and, unless empty, a refresh token.
func (w *enterprise) signIn(t *testing.T, valid time.Duration, refresh secret.Text) {
	t.Helper()
	claims := base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, `{"sub":"ada","exp":%d}`, time.Now().Add(valid).Unix()))
	must(t, w.Door().SSO().SaveTokens(t.Context(), w.member.UserID, w.provider.URL, store.SSOTokens{
		IDToken: secret.Text("header." + claims + ".signature"), RefreshToken: refresh, TokenEndpoint: w.provider.URL + "/token",
	}))
}

func (w *enterprise) exchange(out http.ResponseWriter, r *http.Request) {
	_ = r.ParseForm()
	id, password, _ := r.BasicAuth()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.exchanges = append(w.exchanges, r.PostForm)
	if w.refuse != "" || id != url.QueryEscape("patchbay at the provider") || password != url.QueryEscape("secret at the provider") {
		out.WriteHeader(http.StatusBadRequest)
		_ = json.NewEncoder(out).Encode(map[string]any{"error": w.refuse, "error_description": r.PostForm.Get("subject_token")})
		return
	}
	answer := map[string]any{"access_token": "assertion-" + fmt.Sprint(len(w.exchanges)), "issued_token_type": idJAG, "token_type": "N_A"}
	maps.Copy(answer, w.answer)
	_ = json.NewEncoder(out).Encode(answer)
}

func (w *enterprise) authorize(out http.ResponseWriter, r *http.Request) {
	_ = r.ParseForm()
	w.mu.Lock()
	defer w.mu.Unlock()
	switch r.URL.Path {
	case "/.well-known/oauth-protected-resource/mcp":
		if w.leave != nil {
			w.leave()
			<-r.Context().Done()
			return
		}
		document := map[string]any{"resource": w.server.URL + "/mcp", "authorization_servers": []string{w.server.URL}, "scopes_supported": []string{"read"}}
		maps.Copy(document, w.resource)
		_ = json.NewEncoder(out).Encode(document)
	case "/.well-known/oauth-authorization-server":
		document := map[string]any{
			"issuer": w.server.URL, "authorization_endpoint": w.server.URL + "/authorize", "token_endpoint": w.server.URL + "/token",
			"grant_types_supported":                  []string{"authorization_code", oauth.GrantJWTBearer},
			"authorization_grant_profiles_supported": []string{oauth.GrantProfileIdentity},
			"code_challenge_methods_supported":       []string{"S256"},
		}
		maps.Copy(document, w.metadata)
		_ = json.NewEncoder(out).Encode(document)
	case "/token":
		w.redemptions = append(w.redemptions, r.PostForm)
		id, password, isSecret := r.BasicAuth()
		if w.clientSecret = password; !isSecret {
			id = url.QueryEscape(r.PostForm.Get("client_id"))
		}
		if w.refuseServer != "" || id != url.QueryEscape("patchbay at the server") {
			out.WriteHeader(http.StatusBadRequest)
			_ = json.NewEncoder(out).Encode(map[string]any{"error": w.refuseServer, "error_description": r.PostForm.Get("assertion")})
			return
		}
		w.tokens++
		token := map[string]any{"access_token": fmt.Sprint("token-", w.tokens), "token_type": "Bearer", "expires_in": 3600, "refresh_token": "must not be kept"}
		if w.expiresIn != nil {
			token["expires_in"] = w.expiresIn
		}
		if w.expiresIn == 0 {
			delete(token, "expires_in")
		}
		_ = json.NewEncoder(out).Encode(token)
	default:
		http.NotFound(out, r)
	}
}

func (w *enterprise) set(change func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	change()
}

func (w *enterprise) resolver() *credentials.Resolver {
	return credentials.NewRefreshing(credentials.Options{Store: w.St, OAuth: w.oauth})
}

// sent is the header of the agent's next call, and the error in its place.
func (w *enterprise) sent(t *testing.T, r *credentials.Resolver) (string, error) {
	t.Helper()
	return w.sentFor(t, r, connectors.CallerAgent(w.agent.ID))
}

// expire makes the stored access token due.
func (w *enterprise) expire(t *testing.T) {
	t.Helper()
	var n int
	w.AsSystem(t, "with due as (update credentials set expires_at = now(), retry_at = null returning 1) select count(*) from due", nil, &n)
	if n == 0 {
		t.Fatal("no account to expire")
	}
}

func TestManaged_FirstUseGetsToken(t *testing.T) {
	t.Parallel()
	w := newEnterprise(t)
	r := w.resolver()
	for range 2 {
		if got, err := w.sent(t, r); err != nil || got != "Bearer token-1" {
			t.Fatalf("%q, %v", got, err)
		}
	}
	exchange, redeem := w.exchanges[0], w.redemptions[0]
	for name, want := range map[string]string{
		"grant_type": "urn:ietf:params:oauth:grant-type:token-exchange", "requested_token_type": idJAG, "audience": w.server.URL, "resource": w.server.URL + "/mcp",
		"subject_token_type": string(oauth.SubjectIDToken), "scope": "read",
	} {
		if got := exchange.Get(name); got != want {
			t.Errorf("%s = %q at the provider, want %q", name, got, want)
		}
	}
	for name, want := range map[string]string{"grant_type": oauth.GrantJWTBearer, "assertion": "assertion-1", "resource": w.server.URL + "/mcp", "scope": "read"} {
		if got := redeem.Get(name); got != want {
			t.Errorf("%s = %q at the authorization server, want %q", name, got, want)
		}
	}
	g, err := w.St.Vault(w.Tenant).Grant(t.Context(), w.connector.ID, &w.agent.ID)
	must(t, err)
	if g.Member == nil || *g.Member != w.member.UserID || g.Account != w.member.Email || !g.Tokens.RefreshToken.Empty() {
		t.Errorf("%+v", g.Credential)
	}
}

func TestManaged_OnlyForTheMembersOwnAgent(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*testing.T, *enterprise){
		"an agent of the organisation": func(t *testing.T, w *enterprise) { w.agent = w.Agent(t) },
		"another member's agent": func(t *testing.T, w *enterprise) {
			w.agent = w.Agent(t)
			must(t, w.Door().Agents().MakePersonal(t.Context(), w.Member(t, connectors.RoleOwner).UserID, w.agent.ID))
		},
		"the setting is off": func(t *testing.T, w *enterprise) { w.configure(t, false) },
		"no sign-in":         func(t *testing.T, w *enterprise) { must(t, w.Door().SSO().DeleteTokens(t.Context())) },
		"a server without the profile": func(_ *testing.T, w *enterprise) {
			w.metadata = map[string]any{"authorization_grant_profiles_supported": []string{"another"}}
		},
		"an older server with other grants": func(_ *testing.T, w *enterprise) {
			w.metadata = map[string]any{"authorization_grant_profiles_supported": nil}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newEnterprise(t)
			change(t, w)
			_, err := w.sent(t, w.resolver())
			wantMissing(t, err)
			if len(w.exchanges)+w.tokens != 0 {
				t.Errorf("%d exchanges, %d tokens", len(w.exchanges), w.tokens)
			}
		})
	}
}

func TestManaged_RefusalEndsAccess(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		refuse func(*enterprise)
		says   string
		ends   bool
	}{
		"suspended at the provider": {func(w *enterprise) { w.refuse = "invalid_grant" }, "sign-in provider refuses", true},
		"forbidden by a policy":     {func(w *enterprise) { w.refuse = "access_denied" }, "sign-in provider refuses", true},
		"unknown to the provider":   {func(w *enterprise) { w.refuse = "invalid_target" }, "sign-in provider refuses", true},
		"refused by RFC 8693":       {func(w *enterprise) { w.refuse = "invalid_request" }, "sign-in provider refuses", false},
		"refused by the server":     {func(w *enterprise) { w.refuseServer = "invalid_grant" }, "refuses the identity", true},
		"client of the provider":    {func(w *enterprise) { w.refuse = "unauthorized_client" }, "Patchbay's client", false},
		"token of another type": {func(w *enterprise) {
			w.answer = map[string]any{"issued_token_type": "urn:ietf:params:oauth:token-type:access_token"}
		}, "valid OAuth", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newEnterprise(t)
			r := w.resolver()
			_, err := w.sent(t, r)
			must(t, err)
			w.set(func() { tc.refuse(w) })
			w.expire(t)
			got, err := w.sent(t, r)
			if err == nil || !strings.Contains(fault.As(err).Message, tc.says) || w.tokens != 1 {
				t.Fatalf("%q, %v; %d tokens", got, err, w.tokens)
			}
			if strings.Contains(fmt.Sprint(err, fault.As(err).Remote), "assertion-") || strings.Contains(fmt.Sprint(err, fault.As(err).Remote), "header.") {
				t.Error("the error repeats a secret")
			}
			if g, err := w.St.Vault(w.Tenant).Grant(t.Context(), w.connector.ID, &w.agent.ID); err != nil || (g.Status == connectors.CredentialRevoked) != tc.ends {
				t.Errorf("the account is %s, %v", g.Status, err)
			}
			before := len(w.exchanges)
			w.set(func() { w.refuse, w.refuseServer, w.answer = "", "", nil })
			if _, err := w.sent(t, r); err == nil || len(w.exchanges) != before {
				t.Errorf("%v; asked %d times", err, len(w.exchanges)-before)
			}
			w.signIn(t, time.Hour, "")
			if got, err := w.sent(t, r); err != nil || got != "Bearer token-2" {
				t.Errorf("after the next sign-in: %q, %v", got, err)
			}
		})
	}
}

func TestManaged_SubjectIsValid(t *testing.T) {
	t.Parallel()
	w := newEnterprise(t)
	w.signIn(t, time.Second, "refresh token of the provider")
	r := w.resolver()
	if _, err := w.sent(t, r); err != nil {
		t.Fatal(err)
	}
	if got := w.exchanges[0]; got.Get("subject_token") != "refresh token of the provider" || got.Get("subject_token_type") != string(oauth.SubjectRefreshToken) {
		t.Errorf("subject: %v", got)
	}
	w.signIn(t, time.Second, "")
	w.expire(t)
	_, err := w.sent(t, r)
	wantMissing(t, err)
	if len(w.exchanges) != 1 || !strings.Contains(err.Error(), "expired") {
		t.Errorf("%d exchanges, %v", len(w.exchanges), err)
	}
}

func TestManaged_EndsWithMembership(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*testing.T, *enterprise) error{
		"removed": func(t *testing.T, w *enterprise) error {
			_, err := w.Door().People().RemoveMember(t.Context(), w.member.UserID)
			return err
		},
		"provider removed": func(t *testing.T, w *enterprise) error { return w.Door().SSO().Delete(t.Context()) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newEnterprise(t)
			r := w.resolver()
			_, err := w.sent(t, r)
			must(t, err)
			must(t, end(t, w))
			_, err = w.sent(t, r)
			wantMissing(t, err)
			if n := w.Count(t, "credentials") + w.Count(t, "sso_tokens"); n != 0 || w.tokens != 1 {
				t.Errorf("%d rows, %d tokens", n, w.tokens)
			}
		})
	}
}

// An MCP server that names another server's authorization server gets no token of that one.
func TestManaged_OtherServersTokenNotRequested(t *testing.T) {
	t.Parallel()
	w, other := newEnterprise(t), newEnterprise(t)
	_, err := w.Door().Connectors().DeleteClientSecret(t.Context(), w.connector.ID) // which would be for the first server only
	must(t, err)
	w.metadata = map[string]any{"token_endpoint_auth_methods_supported": []string{"none"}}
	other.metadata = w.metadata
	r := w.resolver()
	_, err = w.sent(t, r)
	must(t, err)
	w.set(func() { w.resource = map[string]any{"authorization_servers": []string{other.server.URL}} })
	w.expire(t)
	got, err := w.sent(t, r)
	if err == nil || !strings.Contains(fault.As(err).Message, "an admin enters its issuer") {
		t.Fatalf("%q, %v", got, err)
	}
	second := w.Agent(t)
	must(t, w.Door().Agents().MakePersonal(t.Context(), w.member.UserID, second.ID))
	if headers, err := r.Headers(t.Context(), w.Tenant, w.connector, credentials.Account{Agent: &second.ID}); err == nil {
		t.Errorf("a new account: %d headers", len(headers))
	}
	if len(w.exchanges) != 1 || len(other.redemptions) != 0 {
		t.Errorf("%d exchanges, %d redemptions at the other server", len(w.exchanges), len(other.redemptions))
	}
	w.connector.OAuth.Issuer = other.server.URL // an admin confirms
	pinned, err := w.Door().Accounts().PinManagedIssuer(t.Context(), w.connector.ID, other.server.URL, true)
	if err != nil || pinned != other.server.URL {
		t.Errorf("confirmed: %q, %v", pinned, err)
	}
}

func TestManaged_ResourceIsNamed(t *testing.T) {
	t.Parallel()
	w := newEnterprise(t)
	r := w.resolver()
	_, err := w.sent(t, r)
	must(t, err)
	w.set(func() { w.resource = map[string]any{"resource": nil} })
	w.expire(t)
	if got, err := w.sent(t, r); err == nil || !strings.Contains(fault.As(err).Message, "names no resource") || len(w.exchanges) != 1 {
		t.Errorf("%q, %v; %d exchanges", got, err, len(w.exchanges))
	}
}

func TestManaged_StepUpOnlyToKnownScopes(t *testing.T) {
	t.Parallel()
	w := newEnterprise(t)
	r := w.resolver()
	_, err := w.sent(t, r)
	must(t, err)
	u, err := r.Resolve(t.Context(), w.Tenant, w.connector, credentials.Account{Agent: &w.agent.ID})
	must(t, err)
	w.set(func() { w.resource = map[string]any{"scopes_supported": []string{"read", "write"}} })
	must(t, r.RequestScopes(t.Context(), w.Tenant, u, []string{"write", "admin"}, nil))
	if got := w.exchanges[1].Get("scope"); got != "read write" {
		t.Errorf("requested %q", got)
	}
}

func TestManaged_StaysAtItsOrigin(t *testing.T) {
	t.Parallel()
	w := newEnterprise(t)
	r := w.resolver()
	_, err := w.sent(t, r)
	must(t, err)
	moved := newEnterprise(t)
	w.connector.URL = moved.server.URL + "/mcp"
	_, err = w.sent(t, r)
	wantMissing(t, err)
	if len(w.exchanges) != 1 {
		t.Errorf("%d exchanges", len(w.exchanges))
	}
}

func TestManaged_ProviderIsAskedHourly(t *testing.T) {
	t.Parallel()
	for name, expiresIn := range map[string]any{"no expiry": 0, "a day": 86400} {
		for _, refusal := range []string{"invalid_client", "unauthorized_client", "invalid_scope", "of_our_own", "invalid_grant"} {
			t.Run(name+" "+refusal, func(t *testing.T) {
				t.Parallel()
				w := newEnterprise(t)
				w.expiresIn = expiresIn
				now := time.Now()
				r := credentials.NewRefreshing(credentials.Options{Store: w.St, OAuth: w.oauth, Now: func() time.Time { return now }})
				_, err := w.sent(t, r)
				must(t, err)
				w.signIn(t, 3*time.Hour, "")
				now = now.Add(50 * time.Minute)
				if got, err := w.sent(t, r); err != nil || got != "Bearer token-1" || len(w.exchanges) != 1 {
					t.Fatalf("within the hour: %q, %v; asked %d times", got, err, len(w.exchanges))
				}
				w.set(func() { w.refuse = refusal })
				now = now.Add(10 * time.Minute)
				if got, err := w.sent(t, r); err == nil {
					t.Errorf("after an hour: %q", got)
				}
				if len(w.exchanges) < 2 || w.tokens != 1 {
					t.Errorf("asked %d times, %d tokens", len(w.exchanges), w.tokens)
				}
			})
		}
	}
}

func TestManaged_StaysDisconnected(t *testing.T) {
	t.Parallel()
	w := newEnterprise(t)
	r := w.resolver()
	_, err := w.sent(t, r)
	must(t, err)
	must(t, w.Door().Connectors().DeleteCredential(t.Context(), w.connector.ID, &w.agent.ID, ""))
	for _, when := range []string{"the next call", "the next sign-in"} {
		_, err = w.sent(t, r)
		wantMissing(t, err)
		if len(w.exchanges) != 1 {
			t.Errorf("%s: asked %d times", when, len(w.exchanges))
		}
		w.signIn(t, time.Hour, "")
	}
}

// A caller that leaves says nothing about the server, and a look at the server does not bind the client's secret to what it names.
func TestManaged_SurveyLeavesNothing(t *testing.T) {
	t.Parallel()
	w := newEnterprise(t)
	r := w.resolver()
	ctx, cancel := context.WithCancel(t.Context())
	w.set(func() { w.leave = cancel })
	if _, err := r.Headers(ctx, w.Tenant, w.connector, credentials.Account{Agent: &w.agent.ID}); err == nil {
		t.Fatal("headers for a caller that left")
	}
	w.set(func() { w.leave, w.refuse = nil, "access_denied" })
	if _, err := w.sent(t, r); err == nil || len(w.exchanges) == 0 {
		t.Errorf("%v; asked %d times", err, len(w.exchanges))
	}
}

func TestManaged_SurveyBindsNoSecret(t *testing.T) {
	t.Parallel()
	w := newEnterprise(t)
	w.signIn(t, time.Second, "") // which is not sent
	_, err := w.sent(t, w.resolver())
	wantMissing(t, err)
	if err := w.St.Vault(w.Tenant).ClientSecretFits(t.Context(), w.connector, "https://another.example.com"); err != nil {
		t.Errorf("bound to the server that was only looked at: %v", err)
	}
}

func TestManaged_NotForOthersPrograms(t *testing.T) {
	t.Parallel()
	w := newEnterprise(t)
	r := w.resolver()
	for n := range 2 {
		if _, err := w.sent(t, r); n == 0 {
			must(t, err)
			w.Token(t, w.agent.ID)
		}
		_, err := w.sent(t, r)
		wantMissing(t, err)
		if !strings.Contains(err.Error(), "admin's token") || len(w.exchanges) != 1 {
			t.Errorf("%v; asked %d times", err, len(w.exchanges))
		}
		w.signIn(t, time.Hour, "") // does not revive it
	}
}
