package credentials_test

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/credentials"
	"patchbay/internal/fault"
	"patchbay/internal/mcp"
	"patchbay/internal/oauth/oauthtest"
	"patchbay/internal/secret"
)

// Keys are created once: RSA is slow.
var (
	rsaKey = sync.OnceValue(func() crypto.Signer { return mustKey(rsa.GenerateKey(rand.Reader, 2048)) })
	ecKey  = sync.OnceValue(func() crypto.Signer { return mustKey(ecdsa.GenerateKey(elliptic.P256(), rand.Reader)) })
)

func mustKey[K crypto.Signer](key K, err error) crypto.Signer {
	if err != nil {
		panic(err)
	}
	return key
}

func encodePEM(t testing.TB, key crypto.Signer) secret.Text {
	t.Helper()
	der, err := x509.MarshalPKCS8PrivateKey(key)
	must(t, err)
	return secret.Text(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}))
}

// newMachineConnection is a connection with client credentials.
func newMachineConnection(t testing.TB, b oauthtest.Behaviour, opts ...func(*connectors.Draft)) *connection {
	t.Helper()
	return newEmptyConnection(t, b, append([]func(*connectors.Draft){func(d *connectors.Draft) {
		d.Auth.Type, d.OAuth.ClientID = connectors.AuthClientCredentials, "machine"
	}}, opts...)...)
}

// saveMachine stores a machine's secret or key, and registers it with the authorization server.
func (c *connection) saveMachine(t testing.TB, agent *connectors.AgentID, id string, key crypto.Signer) {
	t.Helper()
	s := connectors.Secret{ClientID: id, ClientSecret: secret.Text("secret of " + id)}
	if key == nil {
		c.as.AddClient(id, s.ClientSecret.Reveal(), nil)
	} else {
		c.as.AddClient(id, "", key.Public())
		s.ClientSecret, s.PrivateKey = "", encodePEM(t, key)
	}
	saveCredential(t, c.World, c.connector, agent, s)
}

func TestMachine_GetsToken(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		auth      connectors.AuthType
		key       func() crypto.Signer
		algorithm string
		method    string
		offered   []string // token_endpoint_auth_methods_supported
		inForm    string
	}{
		"secret":                  {auth: connectors.AuthClientCredentials},
		"secret, basic as set":    {auth: connectors.AuthClientCredentials, method: "client_secret_basic", offered: []string{"client_secret_post"}},
		"secret, post as offered": {auth: connectors.AuthClientCredentials, offered: []string{"client_secret_post"}, inForm: "client_secret"},
		"secret, post as set":     {auth: connectors.AuthClientCredentials, method: "client_secret_post", inForm: "client_secret"},
		"key, RSA":                {auth: connectors.AuthPrivateKeyJWT, key: rsaKey, inForm: "client_assertion"},
		"key, RS256":              {auth: connectors.AuthPrivateKeyJWT, key: rsaKey, algorithm: "RS256", inForm: "client_assertion"},
		"key, RS512":              {auth: connectors.AuthPrivateKeyJWT, key: rsaKey, algorithm: "RS512", inForm: "client_assertion"},
		"key, ES256":              {auth: connectors.AuthPrivateKeyJWT, key: ecKey, algorithm: "ES256", inForm: "client_assertion"},
	} {
		for mode, perAgent := range map[connectors.CredentialMode]bool{connectors.CredentialShared: false, connectors.CredentialPerAgent: true} {
			t.Run(name+", "+string(mode), func(t *testing.T) {
				t.Parallel()
				c := newMachineConnection(t, oauthtest.Behaviour{AuthMethods: tc.offered}, func(d *connectors.Draft) {
					d.Auth.Type, d.CredentialMode, d.OAuth.Algorithm, d.OAuth.TokenEndpointAuthMethod = tc.auth, mode, tc.algorithm, tc.method
				})
				var key crypto.Signer
				if tc.key != nil {
					key = tc.key()
				}
				var owner *connectors.AgentID
				if agent := c.Agent(t); perAgent {
					owner = &agent.ID
				}
				c.saveMachine(t, owner, "machine", key)
				r := c.newResolver()
				token := c.token(t, r, owner)
				if _, ok := c.as.Accepts(token); !ok || c.token(t, r, owner) != token {
					t.Error("the token is not good, or not kept")
				}
				sent := c.as.Requests(oauthtest.ClientCredentials)
				if len(sent) != 1 || sent[0].Form.Get("resource") != c.connector.URL {
					t.Fatalf("%d requests", len(sent))
				}
				if inForm := tc.inForm != "" && sent[0].Form.Has(tc.inForm); inForm == (sent[0].Header.Get("Authorization") != "") {
					t.Errorf("%s in the form: %v", tc.inForm, inForm)
				}
				g := c.storedGrant(t, owner)
				if g.Status != connectors.CredentialActive || g.ExpiresAt == nil || g.Tokens.Meta.Server.Issuer != c.as.Issuer || !g.Tokens.Meta.Refreshable {
					t.Errorf("grant = %+v, %+v", g.Credential, g.Tokens.Meta)
				}
			})
		}
	}
}

func TestMachine_SecretIsPerAgent(t *testing.T) {
	t.Parallel()
	c := newMachineConnection(t, oauthtest.Behaviour{}, func(d *connectors.Draft) { d.CredentialMode, d.OAuth.ClientID = connectors.CredentialPerAgent, "" })
	ann, bob, eve := c.Agent(t), c.Agent(t), c.Agent(t)
	c.saveMachine(t, &ann.ID, "ann", nil)
	c.saveMachine(t, &bob.ID, "bob", nil)
	r := c.newResolver()
	if c.token(t, r, &ann.ID) == c.token(t, r, &bob.ID) {
		t.Error("two agents send one token")
	}
	for _, who := range []*connectors.AgentID{nil, &eve.ID} {
		_, err := r.Headers(t.Context(), c.Tenant, c.connector, credentials.Account{Agent: who})
		wantMissing(t, err)
	}
}

func TestMachine_ConcurrentCallersShareRequest(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		replicas int
		expired  bool
	}{"first": {replicas: 1}, "first, three processes": {replicas: 3}, "expired": {replicas: 1, expired: true}, "expired, three processes": {replicas: 3, expired: true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newMachineConnection(t, oauthtest.Behaviour{})
			c.saveMachine(t, nil, "machine", nil)
			want := 1
			if tc.expired {
				c.token(t, c.newResolver(), nil)
				c.expireIn(t, -time.Minute)
				want++
			}
			c.resolveFiftyTimes(t, tc.replicas, func() {})
			if n := c.as.Count(oauthtest.ClientCredentials); n != want {
				t.Errorf("%d requests", n)
			}
		})
	}
}

func TestMachine_ForcedRefreshOncePerVersion(t *testing.T) {
	t.Parallel()
	c := newMachineConnection(t, oauthtest.Behaviour{})
	c.saveMachine(t, nil, "machine", nil)
	r := c.newResolver()
	first, err := r.Resolve(t.Context(), c.Tenant, c.connector, credentials.Account{})
	must(t, err)
	for range 3 {
		u, err := r.ForceRefresh(t.Context(), c.Tenant, c.connector, first.ID, first.Version)
		if err != nil || u == nil || u.Version != first.Version+1 {
			t.Errorf("forced: %+v, %v", u, err)
		}
	}
	if n := c.as.Count(oauthtest.ClientCredentials); n != 2 {
		t.Errorf("%d requests", n)
	}
}

func TestMachine_RefusedClientNeedsNewSecret(t *testing.T) {
	t.Parallel()
	for auth, want := range map[connectors.AuthType]string{
		connectors.AuthClientCredentials: "the authorization server rejects this client or secret. Enter a new one.",
		connectors.AuthPrivateKeyJWT:     "the authorization server rejects this client or key. Enter a new one.",
	} {
		t.Run(string(auth), func(t *testing.T) {
			t.Parallel()
			c := newMachineConnection(t, oauthtest.Behaviour{}, func(d *connectors.Draft) { d.Auth.Type = auth })
			var key crypto.Signer
			if auth == connectors.AuthPrivateKeyJWT {
				key = ecKey()
			}
			c.saveMachine(t, nil, "machine", key)
			c.as.ForgetClients()
			r := c.newResolver()
			for range 2 {
				_, err := r.Headers(t.Context(), c.Tenant, c.connector, credentials.Account{})
				wantMissing(t, err)
				if got := fault.As(err).Message; got != `The connector "`+c.connector.Name+`" can't sign in: `+want {
					t.Errorf("message %q", got)
				}
			}
			if got, n := c.status(t), c.as.Count(oauthtest.ClientCredentials); got != connectors.CredentialRevoked || n != 1 {
				t.Errorf("status %s after %d requests", got, n)
			}
			if got := c.reloadConnector(t).Status; got != connectors.StatusNeedsAuth {
				t.Errorf("the connector is %s", got)
			}
			c.saveMachine(t, nil, "machine", key)
			c.token(t, r, nil)
		})
	}
}

func TestMachine_TemporaryFailureEndsNothing(t *testing.T) {
	t.Parallel()
	for name, trouble := range troubles {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newMachineConnection(t, oauthtest.Behaviour{Token: trouble, RetryAfter: "3600"})
			c.setTimeoutFor(trouble)
			c.saveMachine(t, nil, "machine", nil)
			r := c.newResolver()
			for range 3 {
				_, err := r.Headers(t.Context(), c.Tenant, c.connector, credentials.Account{})
				wantNotRenewed(t, err)
			}
			if n := c.as.Count(oauthtest.ClientCredentials); n != 1 {
				t.Errorf("%d requests", n)
			}
			if wait := c.skipRetryDelay(t); wait > 20*time.Second {
				t.Errorf("tried again after %s", wait)
			}
			c.as.Set(func(b *oauthtest.Behaviour) { b.Token = oauthtest.NoTrouble })
			c.token(t, r, nil)
		})
	}
}

func TestMachine_SecretStaysWithItsServer(t *testing.T) {
	t.Parallel()
	c := newMachineConnection(t, oauthtest.Behaviour{})
	c.saveMachine(t, nil, "machine", nil)
	r := c.newResolver()
	c.token(t, r, nil)
	thief := oauthtest.Start(t, oauthtest.Behaviour{})
	c.resource.Set(func(b *oauthtest.ResourceBehaviour) { b.Servers = []string{thief.Issuer} })
	c.expireIn(t, -time.Minute)
	_, err := r.Headers(t.Context(), c.Tenant, c.connector, credentials.Account{})
	wantNotRenewed(t, err)
	if got := fault.As(err).Message; !strings.Contains(got, "was entered for the authorization server "+c.as.Issuer) {
		t.Errorf("message %q", got)
	}
	if n := thief.Count(oauthtest.ClientCredentials); n != 0 {
		t.Errorf("the second server was asked %d times", n)
	}
}

func TestMachine_ConfiguredEndpointSkipsDiscovery(t *testing.T) {
	t.Parallel()
	for name, issuer := range map[string]bool{"with its issuer": true, "alone": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			authServer := oauthtest.Start(t, oauthtest.Behaviour{WellKnown: oauthtest.Nowhere})
			c := newMachineConnection(t, oauthtest.Behaviour{}, func(d *connectors.Draft) {
				d.OAuth.TokenEndpoint = authServer.Issuer + "/token"
				if issuer {
					d.OAuth.Issuer = authServer.Issuer
				}
			})
			c.as = authServer
			c.saveMachine(t, nil, "machine", nil)
			if _, ok := authServer.Accepts(c.token(t, c.newResolver(), nil)); !ok {
				t.Error("the token is not good")
			}
			if n := authServer.Count(oauthtest.MetadataRequest); n != 0 || len(c.resource.Looked()) != 0 {
				t.Errorf("%d documents, %v", n, c.resource.Looked())
			}
		})
	}
}

func TestMachine_DiscoversByChallenge(t *testing.T) {
	t.Parallel()
	c := newMachineConnection(t, oauthtest.Behaviour{})
	documents := http.NewServeMux()
	documents.HandleFunc("/elsewhere", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, `{"resource":%q,"authorization_servers":[%q]}`, c.connector.URL, c.as.Issuer)
	})
	elsewhere := httptest.NewServer(documents)
	t.Cleanup(elsewhere.Close)
	c.resource.Set(func(b *oauthtest.ResourceBehaviour) {
		b.Metadata, b.MetadataURL = oauthtest.NoMetadata, elsewhere.URL+"/elsewhere"
	})
	c.saveMachine(t, nil, "machine", nil)
	r := c.newResolver(func(o *credentials.Options) { o.Dialer = &mcp.Dialer{HTTP: c.oauth.HTTP, Version: "test"} })
	if _, ok := c.as.Accepts(c.token(t, r, nil)); !ok {
		t.Error("the token is not good")
	}
	if got := c.storedGrant(t, nil).Tokens.Meta.Resource; got != c.connector.URL {
		t.Errorf("resource %q", got)
	}
}

// Without metadata, MCP 2025-03-26 assumes endpoints, unless the challenge names others.
func TestMachine_NoSecretToAssumedEndpointBeforeChallenge(t *testing.T) {
	t.Parallel()
	for name, silence := range map[string]http.HandlerFunc{
		"429":     func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "", http.StatusTooManyRequests) },
		"503":     func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "", http.StatusServiceUnavailable) },
		"timeout": func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
		"reset":   func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var tokens, down atomic.Int32
			down.Store(1)
			mux := http.NewServeMux()
			mux.HandleFunc("/mcp", func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body) // so that the server notices the end of the request
				if down.Load() == 1 {
					silence(w, r)
					return
				}
				w.WriteHeader(http.StatusUnauthorized)
			})
			mux.HandleFunc("/token", func(w http.ResponseWriter, _ *http.Request) {
				tokens.Add(1)
				w.Header().Set("Content-Type", "application/json")
				_, _ = io.WriteString(w, `{"access_token":"of the server","token_type":"Bearer","expires_in":3600}`)
			})
			server := httptest.NewServer(mux)
			t.Cleanup(server.Close)
			c := newMachineConnection(t, oauthtest.Behaviour{}, func(d *connectors.Draft) { d.URL, d.Timeout = server.URL+"/mcp", 4*time.Second })
			c.saveMachine(t, nil, "machine", nil)
			r := c.newResolver(func(o *credentials.Options) { o.Dialer = &mcp.Dialer{HTTP: c.oauth.HTTP, Version: "test"} })
			_, err := r.Headers(t.Context(), c.Tenant, c.connector, credentials.Account{})
			wantNotRenewed(t, err)
			if n := tokens.Load(); n != 0 {
				t.Errorf("the secret was sent %d times", n)
			}
			down.Store(0)
			c.skipRetryDelay(t)
			if got := c.token(t, r, nil); got != "of the server" {
				t.Errorf("token %q", got)
			}
			down.Store(1) // a server that has received the secret may be requested again
			c.expireIn(t, -time.Minute)
			c.token(t, r, nil)
			if n := tokens.Load(); n != 2 {
				t.Errorf("%d token requests", n)
			}
		})
	}
}

func TestMachine_RequestsConfiguredOrListedScopes(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		set, listed, want []string
	}{
		"set":    {set: []string{"tools"}, listed: []string{"read", "write"}, want: []string{"tools"}},
		"listed": {listed: []string{"read", "write"}, want: []string{"read", "write"}},
		"none":   {},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newMachineConnection(t, oauthtest.Behaviour{Scopes: []string{"offline_access"}}, func(d *connectors.Draft) { d.OAuth.Scopes = tc.set })
			c.resource.Set(func(b *oauthtest.ResourceBehaviour) { b.Scopes = tc.listed })
			c.saveMachine(t, nil, "machine", nil)
			got, _ := c.as.Accepts(c.token(t, c.newResolver(), nil))
			if !slices.Equal(got, tc.want) || !slices.Equal(c.storedGrant(t, nil).Scopes, tc.want) {
				t.Errorf("granted %v, stored %v", got, c.storedGrant(t, nil).Scopes)
			}
		})
	}
}

func TestMachine_StepsUpTwice(t *testing.T) {
	t.Parallel()
	c := newMachineConnection(t, oauthtest.Behaviour{}, func(d *connectors.Draft) { d.OAuth.Scopes = []string{"read"} })
	c.saveMachine(t, nil, "machine", nil)
	r := c.newResolver()
	for i, asks := range []string{"write", "admin", "root"} {
		u, err := r.Resolve(t.Context(), c.Tenant, c.connector, credentials.Account{})
		must(t, err)
		must(t, r.RequestScopes(t.Context(), c.Tenant, u, []string{asks}, nil))
		if i == 2 {
			_, err := r.Headers(t.Context(), c.Tenant, c.connector, credentials.Account{})
			wantMissing(t, err)
			return
		}
		if got, _ := c.as.Accepts(c.token(t, r, nil)); !slices.Equal(got, []string{"read", "write", "admin"}[:i+2]) {
			t.Errorf("%d: granted %v", i, got)
		}
	}
}

func TestEntered_RequestsTokenWithoutStoring(t *testing.T) {
	t.Parallel()
	c := newMachineConnection(t, oauthtest.Behaviour{})
	c.as.AddClient("machine", "s3cret", nil)
	r, before := c.newResolver(), c.Queries()
	headers, err := r.HeadersFor(t.Context(), c.Tenant, c.connector, connectors.Secret{ClientSecret: "s3cret"})
	if _, ok := c.as.Accepts(authorizationHeader(t, headers, err)[len("Bearer "):]); !ok {
		t.Error("the token is not good")
	}
	if n := c.Queries() - before; n != 0 {
		t.Errorf("the database was asked %d times", n)
	}
	if headers, err := r.HeadersFor(t.Context(), c.Tenant, c.connector, connectors.Secret{ClientSecret: "wrong"}); err == nil {
		t.Errorf("a wrong secret gave %v", headers)
	}
}

func TestTrial_UsesStoredSecretUnchanged(t *testing.T) {
	t.Parallel()
	c := newMachineConnection(t, oauthtest.Behaviour{})
	r := c.newResolver()
	headers, err := r.HeadersForDraft(t.Context(), c.Tenant, c.connector)
	if headers != nil || err != nil {
		t.Errorf("without a secret: %v, %v", headers, err)
	}
	c.saveMachine(t, nil, "machine", nil)
	before := c.storedGrant(t, nil)
	other := c.connector
	other.OAuth.Scopes = []string{"other"}
	headers, err = r.HeadersForDraft(t.Context(), c.Tenant, other)
	if got, _ := c.as.Accepts(authorizationHeader(t, headers, err)[len("Bearer "):]); !slices.Equal(got, []string{"other"}) {
		t.Errorf("granted %v", got)
	}
	if after := c.storedGrant(t, nil); after.Version != before.Version || !after.Tokens.AccessToken.Empty() {
		t.Error("the trial was stored")
	}
}

func TestMachine_WithoutOAuthIsMissing(t *testing.T) {
	t.Parallel()
	c := newMachineConnection(t, oauthtest.Behaviour{})
	c.saveMachine(t, nil, "machine", nil)
	u, err := credentials.New(c.St).Resolve(t.Context(), c.Tenant, c.connector, credentials.Account{})
	if u != nil || err != nil {
		t.Errorf("usable = %v, %v", u, err)
	}
}
