package credentials_test

import (
	"crypto/rsa"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/golang-jwt/jwt/v5"

	"patchbay/internal/connectors"
	"patchbay/internal/credentials"
	"patchbay/internal/oauth"
	"patchbay/internal/safehttp"
	"patchbay/internal/testing/fixture"
)

const ownURL = "https://patchbay.example"

// exchangeWorld is an MCP server with an authorization server that trusts the tenant's issuer, and the server of an attacker. All verify
// what they get.
type exchangeWorld struct {
	*fixture.World
	server, as, evil *httptest.Server
	connector        connectors.Connector
	member           connectors.Member
	agent            connectors.Agent
	oauth            *oauth.Client

	mu       sync.Mutex     // guards the fields below
	requests []url.Values   // for tokens, at all
	at       []string       // to which of them
	metadata map[string]any // of the authorization servers, over the default
	resource map[string]any // of the MCP server, over the default
	answer   map[string]any // with a token, over the default
	refuse   string         // error of the authorization servers; empty: none
	proofs   int            // requests with a proof
	asked    func()         // runs while an authorization server answers with its metadata; nil: nothing
	trusted  map[string]bool
	seen     map[string]bool // jti
}

func newExchangeWorld(t *testing.T, opts ...func(*exchangeWorld, *connectors.Draft)) *exchangeWorld {
	t.Helper()
	p := safehttp.New(safehttp.Options{Mode: safehttp.Local})
	t.Cleanup(p.Client().CloseIdleConnections)
	w := &exchangeWorld{World: fixture.New(t), oauth: &oauth.Client{HTTP: p.Client(), CheckURL: p.CheckURL}, seen: map[string]bool{}}
	w.trusted = map[string]bool{w.issuer(): true}
	for _, s := range []**httptest.Server{&w.server, &w.as, &w.evil} {
		*s = httptest.NewServer(http.HandlerFunc(w.serve))
		t.Cleanup((*s).Close)
	}
	must(t, w.Door().Accounts().SetTokenExchange(t.Context(), true))
	must(t, w.OtherDoor().Accounts().SetTokenExchange(t.Context(), true))
	w.connector = w.Connector(t, func(d *connectors.Draft) {
		d.URL, d.Auth.Type, d.CredentialMode = w.server.URL+"/mcp", connectors.AuthOAuth2, connectors.CredentialPerAgent
		d.OAuth = connectors.OAuthSettings{ClientID: "patchbay", Issuer: w.as.URL, TokenExchange: connectors.ExchangeActorToken}
		for _, opt := range opts {
			opt(w, d)
		}
	})
	must(t, w.Door().Connectors().SetClientSecret(t.Context(), w.connector, "secret of the client"))
	w.member, w.agent = w.Member(t, connectors.RoleMember), w.Agent(t)
	must(t, w.Door().Agents().MakePersonal(t.Context(), w.member.UserID, w.agent.ID))
	return w
}

func (w *exchangeWorld) issuer() string {
	return ownURL + credentials.IssuersPath + w.Tenant.String()
}

// subject is how claims name the member.
func (w *exchangeWorld) subject() string { return w.Tenant.String() + ":" + w.member.UserID.String() }

func (w *exchangeWorld) serve(out http.ResponseWriter, r *http.Request) {
	_ = r.ParseForm()
	w.mu.Lock()
	defer w.mu.Unlock()
	self := "http://" + r.Host
	switch r.URL.Path {
	case "/.well-known/oauth-protected-resource/mcp":
		document := map[string]any{"resource": self + "/mcp", "authorization_servers": []string{w.as.URL}, "scopes_supported": []string{"read"}}
		maps.Copy(document, w.resource)
		_ = json.NewEncoder(out).Encode(document)
	case "/.well-known/oauth-authorization-server":
		if w.asked != nil {
			w.asked()
		}
		document := map[string]any{
			"issuer": self, "authorization_endpoint": self + "/authorize", "token_endpoint": self + "/token",
			"grant_types_supported": []string{"authorization_code", oauth.GrantTokenExchange}, "code_challenge_methods_supported": []string{"S256"},
		}
		maps.Copy(document, w.metadata)
		_ = json.NewEncoder(out).Encode(document)
	case "/token":
		w.issue(out, r, self)
	default:
		http.NotFound(out, r)
	}
}

// issue answers with a token that names its subject and actor, as an authorization server does that trusts w.trusted.
func (w *exchangeWorld) issue(out http.ResponseWriter, r *http.Request, self string) {
	w.requests, w.at = append(w.requests, r.PostForm), append(w.at, self)
	refuse := w.refuse
	subject, failed := w.verify(r, r.PostForm.Get("subject_token"), self)
	act, _ := subject["act"].(map[string]any)
	if r.PostForm.Has("actor_token") && failed == "" {
		act, failed = w.verify(r, r.PostForm.Get("actor_token"), self)
		if may, _ := subject["may_act"].(map[string]any); failed == "" && may["sub"] != act["sub"] {
			failed = "invalid_request"
		}
	}
	if _, password, _ := r.BasicAuth(); password != url.QueryEscape("secret of the client") {
		failed = "invalid_client"
	}
	if refuse == "" {
		refuse = failed
	}
	if refuse != "" {
		out.WriteHeader(http.StatusBadRequest)
		_ = json.NewEncoder(out).Encode(map[string]any{"error": refuse, "error_description": r.PostForm.Get("subject_token")})
		return
	}
	answer := map[string]any{
		"access_token": fmt.Sprintf("%d.%v.%v", len(w.requests), subject["sub"], act["sub"]), "token_type": "Bearer", "expires_in": 3600,
		"issued_token_type": "urn:ietf:params:oauth:token-type:access_token", "refresh_token": "must not be kept",
	}
	if r.Header.Get("DPoP") != "" {
		w.proofs++
		answer["token_type"] = "DPoP"
	}
	maps.Copy(answer, w.answer)
	_ = json.NewEncoder(out).Encode(answer)
}

// verify returns the claims of an assertion for the server itself, and the error of one that is not, or was used.
func (w *exchangeWorld) verify(r *http.Request, text, self string) (jwt.MapClaims, string) {
	claims := jwt.MapClaims{}
	_, err := jwt.ParseWithClaims(text, claims, func(token *jwt.Token) (any, error) {
		issuer, _ := claims["iss"].(string)
		if !w.trusted[issuer] {
			return nil, fmt.Errorf("issuer %q", issuer)
		}
		return w.publicKey(r, issuer, token.Header["kid"])
	}, jwt.WithAudience(self), jwt.WithExpirationRequired(), jwt.WithValidMethods([]string{"RS256"}))
	id, _ := claims["jti"].(string)
	if err != nil || w.seen[id] {
		return nil, "invalid_grant"
	}
	w.seen[id] = true
	return claims, ""
}

func (w *exchangeWorld) publicKey(r *http.Request, issuer string, id any) (*rsa.PublicKey, error) {
	tenant := w.Tenant
	if strings.HasSuffix(issuer, w.Other.String()) {
		tenant = w.Other
	}
	keys, err := credentials.NewPublicKeys(w.St).List(r.Context(), tenant)
	for _, raw := range keys {
		var k struct{ KID, N, E string }
		if err = json.Unmarshal(raw, &k); err == nil && k.KID == id {
			n, _ := base64.RawURLEncoding.DecodeString(k.N)
			e, _ := base64.RawURLEncoding.DecodeString(k.E)
			return &rsa.PublicKey{N: new(big.Int).SetBytes(n), E: int(new(big.Int).SetBytes(e).Int64())}, nil
		}
	}
	return nil, fmt.Errorf("key %v is not published: %w", id, err)
}

func (w *exchangeWorld) set(change func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	change()
}

func (w *exchangeWorld) newResolver(opts ...func(*credentials.Options)) *credentials.Resolver {
	o := credentials.Options{Store: w.St, OAuth: w.oauth, BaseURL: ownURL}
	for _, opt := range opts {
		opt(&o)
	}
	return credentials.NewRefreshing(o)
}

// sent is the header of the agent's next call, and the error in its place.
func (w *exchangeWorld) sent(t *testing.T, r *credentials.Resolver, callers ...connectors.Caller) (string, error) {
	t.Helper()
	caller := connectors.CallerAgent(w.agent.ID)
	if len(callers) > 0 {
		caller = callers[0]
	}
	u, err := r.ResolveFor(t.Context(), w.Tenant, w.connector, credentials.Account{Agent: &w.agent.ID}, caller)
	if err == nil && u == nil {
		err = r.ExplainMissing(t.Context(), w.Tenant, w.connector, credentials.Account{Agent: &w.agent.ID})
	}
	if err != nil {
		return "", err
	}
	return authorizationHeader(t, u.Headers, nil), nil
}

func (w *exchangeWorld) expire(t *testing.T) {
	t.Helper()
	w.AsSystem(t, "update credentials set expires_at = now(), retry_at = null", nil)
}

// readClaims reads a JWT's claims, unverified.
func readClaims(t *testing.T, text string) jwt.MapClaims {
	t.Helper()
	claims := jwt.MapClaims{}
	if _, _, err := jwt.NewParser().ParseUnverified(text, claims); err != nil {
		t.Fatal(err)
	}
	return claims
}
