package toolsync_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"patchbay/internal/connectors"
	"patchbay/internal/credentials"
	"patchbay/internal/fault"
	"patchbay/internal/mcp/mcptest"
	"patchbay/internal/oauth"
	"patchbay/internal/oauth/oauthtest"
	"patchbay/internal/safehttp"
	"patchbay/internal/secret"
	"patchbay/internal/store"
	"patchbay/internal/toolsync"
)

// oauthServer is a bundle with an MCP server that requires tokens of an authorization server.
type oauthServer struct {
	*bundle
	as        *oauthtest.Server
	resource  *oauthtest.Resource
	connector connectors.Connector
}

func newOAuthServer(t testing.TB, b oauthtest.Behaviour, r oauthtest.ResourceBehaviour, opts ...func(*connectors.Draft)) *oauthServer {
	t.Helper()
	egress := safehttp.New(safehttp.Options{Mode: safehttp.Local})
	t.Cleanup(egress.Client().CloseIdleConnections)
	bundle := newBundle(t, func(b *bundle) *credentials.Resolver {
		return credentials.NewRefreshing(credentials.Options{
			Store: b.St, OAuth: &oauth.Client{HTTP: egress.Client(), CheckURL: egress.CheckURL, Timeout: patience},
		})
	})
	g := &oauthServer{bundle: bundle, as: oauthtest.Start(t, b)}
	if r.Next == nil {
		r.Next = newUpstream(t, mcptest.Script{Tools: mcptest.Tools(2)})
	}
	g.resource = g.as.Protect(t, r)
	g.as.AddClient("client", "s3cret", nil)
	g.connector = g.addConnector(t, g.resource.URL, append([]func(*connectors.Draft){func(d *connectors.Draft) {
		d.Auth.Type, d.OAuth.ClientID = connectors.AuthOAuth2, "client"
	}}, opts...)...)
	if g.connector.Auth.Type == connectors.AuthOAuth2 {
		must(t, g.Door().Connectors().SetClientSecret(t.Context(), g.connector, "s3cret"))
	}
	return g
}

func machineDraft(d *connectors.Draft) { d.Auth.Type = connectors.AuthClientCredentials }

func perAgentDraft(d *connectors.Draft) { d.CredentialMode = connectors.CredentialPerAgent }

// storeGrant stores a connected account; agent nil: the shared one.
func (g *oauthServer) storeGrant(t testing.TB, agent *connectors.AgentID, scopes ...string) {
	t.Helper()
	access, refresh := g.as.Give("client", g.connector.URL, scopes...)
	ends := time.Now().Add(time.Hour)
	must(t, g.Door().Accounts().SaveGrant(t.Context(), store.NewGrant{
		ConnectorID: g.connector.ID, AgentID: agent, Origin: connectors.Origin(g.connector.URL),
		GrantTokens: store.GrantTokens{
			AccessToken: secret.Text(access), RefreshToken: secret.Text(refresh), ExpiresAt: &ends, Scopes: scopes,
			Meta: store.GrantMeta{
				Server:   oauth.Metadata{Issuer: g.as.Issuer, TokenEndpoint: g.as.Issuer + "/token"},
				ClientID: "client", Resource: g.connector.URL, Source: oauth.SourceConfigured, Refreshable: refresh != "",
			},
		},
	}))
}

// storeSecret stores the secret of a machine client.
func (g *oauthServer) storeSecret(t testing.TB, s connectors.Secret) {
	t.Helper()
	text, err := s.Encode()
	must(t, err)
	must(t, g.Door().Connectors().SetCredential(t.Context(), store.NewCredential{
		ConnectorID: g.connector.ID, Type: g.connector.Auth.Type, Origin: connectors.Origin(g.connector.URL), Secret: text,
	}))
}

func (g *oauthServer) credential(t testing.TB) connectors.Credential {
	t.Helper()
	list, err := g.Door().Connectors().Credentials(t.Context(), g.connector.ID, storePage())
	must(t, err)
	if len(list.Items) != 1 {
		t.Fatalf("%d credentials", len(list.Items))
	}
	return list.Items[0]
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// wantNeedsAuth checks that the run failed for a missing credential with this sentence, and that the connector
// shows it.
func (g *oauthServer) wantNeedsAuth(t testing.TB, err error, says string) {
	t.Helper()
	f := wantFault(t, err, fault.Conflict, "")
	if f.Type != "credential-required" || !strings.Contains(f.Message, says) {
		t.Errorf("%q: %s, want %q", f.Type, f.Message, says)
	}
	now := g.reload(t, g.connector)
	if now.Status != connectors.StatusNeedsAuth || now.LastError == nil || !strings.Contains(now.LastError.Message, says) {
		t.Errorf("connector is %s: %+v", now.Status, now.LastError)
	}
}

func TestSync_RenewsATokenThatExpiredEarly(t *testing.T) {
	t.Parallel()
	for name, opts := range map[string][]func(*connectors.Draft){"account": nil, "machine": {machineDraft}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newOAuthServer(t, oauthtest.Behaviour{Rotate: true}, oauthtest.ResourceBehaviour{}, opts...)
			kind, asked := oauthtest.Refresh, 0
			if opts == nil {
				g.storeGrant(t, nil)
			} else {
				g.storeSecret(t, connectors.Secret{ClientSecret: "s3cret"})
				kind, asked = oauthtest.ClientCredentials, 1
			}
			g.mustSync(t, g.connector)
			g.as.ExpireAccess()

			if run := g.mustSync(t, g.connector); run.Counts.Total != 2 {
				t.Errorf("run = %+v", run)
			}
			if n := g.as.Count(kind); n != asked+1 {
				t.Errorf("%d token requests", n)
			}
			if c := g.credential(t); c.Status != connectors.CredentialActive || c.Version != asked+2 {
				t.Errorf("credential = %+v", c)
			}
		})
	}
}

func TestSync_FreshTokenRefusedNeedsReconnect(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		opts []func(*connectors.Draft)
		says string
	}{
		"account": {nil, `": the server refuses even a refreshed token.`},
		"machine": {[]func(*connectors.Draft){machineDraft}, "can't sign in: the server refuses the authorization server's token."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newOAuthServer(t, oauthtest.Behaviour{}, oauthtest.ResourceBehaviour{RefuseAll: true}, tc.opts...)
			kind, want := oauthtest.Refresh, 1
			if tc.opts == nil {
				g.storeGrant(t, nil)
			} else {
				g.storeSecret(t, connectors.Secret{ClientSecret: "s3cret"})
				kind, want = oauthtest.ClientCredentials, 2 // the first token and its refresh
			}
			for range 3 {
				_, err := g.run(t, g.connector)
				g.wantNeedsAuth(t, err, tc.says)
			}
			if n := g.as.Count(kind); n != want {
				t.Errorf("%d token requests", n)
			}
			if c := g.credential(t); c.Status != connectors.CredentialRevoked {
				t.Errorf("credential = %+v", c)
			}
		})
	}
}

func TestSync_RefusedWithoutRefreshTokenNeedsReconnect(t *testing.T) {
	t.Parallel()
	g := newOAuthServer(t, oauthtest.Behaviour{NoRefreshToken: true}, oauthtest.ResourceBehaviour{})
	g.storeGrant(t, nil)
	g.as.ExpireAccess()
	_, err := g.run(t, g.connector)
	g.wantNeedsAuth(t, err, `": the server no longer accepts this access.`)
	if n := len(g.resource.Tokens()); n != 1 {
		t.Errorf("the server was asked %d times", n)
	}
}

func TestSync_TemporaryRefreshFailureKeepsCredential(t *testing.T) {
	t.Parallel()
	g := newOAuthServer(t, oauthtest.Behaviour{}, oauthtest.ResourceBehaviour{})
	g.storeGrant(t, nil)
	g.as.ExpireAccess()
	g.as.Set(func(b *oauthtest.Behaviour) { b.Token = oauthtest.Unavailable })

	_, err := g.run(t, g.connector)

	f := wantFault(t, err, fault.Unavailable, credentials.CodeNotRenewed)
	if !strings.Contains(f.Message, "couldn't refresh its access") {
		t.Errorf("message %q", f.Message)
	}
	if c := g.credential(t); c.Status != connectors.CredentialRefreshFailed {
		t.Errorf("credential = %+v", c)
	}
	if now := g.reload(t, g.connector); now.Status != connectors.StatusError || now.LastError.Code != credentials.CodeNotRenewed {
		t.Errorf("connector is %s: %+v", now.Status, now.LastError)
	}
	g.as.Set(func(b *oauthtest.Behaviour) { b.Token = oauthtest.NoTrouble })
	_, err = g.Pool.Exec(t.Context(), "begin; select set_config('app.system', 'on', true); update credentials set retry_at = now(); commit")
	must(t, err)
	g.mustSync(t, g.connector)
}

func TestSync_InsufficientScopeNeedsReconnectForAllScopes(t *testing.T) {
	t.Parallel()
	g := newOAuthServer(t, oauthtest.Behaviour{}, oauthtest.ResourceBehaviour{StepUp: map[string]string{"tools/list": "write"}})
	g.storeGrant(t, nil, "read")
	for range 2 { // the second run sends only an anonymous request
		_, err := g.run(t, g.connector)
		g.wantNeedsAuth(t, err, `": the server needs more access than was granted.`)
	}
	stored, err := g.St.Vault(g.Tenant).Grant(t.Context(), g.connector.ID, nil)
	must(t, err)
	if diff := cmp.Diff([]string{"read", "write"}, stored.Tokens.Meta.WantedScopes); diff != "" || stored.Tokens.Meta.StepUps != 1 {
		t.Errorf("after %d step-ups: %s", stored.Tokens.Meta.StepUps, diff)
	}
	if n := g.as.Count(oauthtest.Refresh); n != 0 {
		t.Errorf("%d refreshes: they would have given the same scopes", n)
	}
}

func TestSync_MachineClientGetsMissingScopes(t *testing.T) {
	t.Parallel()
	g := newOAuthServer(t, oauthtest.Behaviour{}, oauthtest.ResourceBehaviour{StepUp: map[string]string{"tools/list": "write"}},
		machineDraft, func(d *connectors.Draft) { d.OAuth.Scopes = []string{"read"} })
	g.storeSecret(t, connectors.Secret{ClientSecret: "s3cret"})
	g.mustSync(t, g.connector)
	if n := g.as.Count(oauthtest.ClientCredentials); n != 2 {
		t.Errorf("%d token requests", n)
	}
}

func TestSync_EndlessScopeDemandsFail(t *testing.T) {
	t.Parallel()
	var wants int
	g := newOAuthServer(t, oauthtest.Behaviour{}, oauthtest.ResourceBehaviour{Next: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		wants++
		w.Header().Set("WWW-Authenticate", `Bearer error="insufficient_scope", scope="`+strings.Repeat("x", wants)+`"`)
		w.WriteHeader(http.StatusForbidden)
	})}, machineDraft)
	g.storeSecret(t, connectors.Secret{ClientSecret: "s3cret"})
	_, err := g.run(t, g.connector)
	g.wantNeedsAuth(t, err, "can't sign in: the server keeps needing more access.")
	if n := g.as.Count(oauthtest.ClientCredentials); n != 3 {
		t.Errorf("%d token requests", n)
	}
}

func TestSync_ForbiddenWithoutScopesKeepsCredential(t *testing.T) {
	t.Parallel()
	g := newOAuthServer(t, oauthtest.Behaviour{}, oauthtest.ResourceBehaviour{Next: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusForbidden)
	})})
	g.storeGrant(t, nil)
	_, err := g.run(t, g.connector)
	if f := wantFault(t, err, fault.Upstream, "unauthorized"); f.Remote.HTTPStatus != http.StatusForbidden {
		t.Errorf("remote = %+v", f.Remote)
	}
	if c := g.credential(t); c.Status != connectors.CredentialActive || g.as.Count(oauthtest.Refresh) != 0 {
		t.Errorf("credential = %+v", c)
	}
}

func TestSync_DeadAccountOfOneAgentAffectsNoOther(t *testing.T) {
	t.Parallel()
	g := newOAuthServer(t, oauthtest.Behaviour{}, oauthtest.ResourceBehaviour{}, perAgentDraft)
	ann, bob := g.Agent(t), g.Agent(t)
	g.storeGrant(t, &ann.ID)
	g.as.ExpireAccess()
	g.as.EndGrants()
	_, err := g.runAs(t, g.connector, &ann)
	g.wantNeedsAuth(t, err, "Reconnect the agent's account for ")
	_, err = g.runAs(t, g.connector, &bob)
	g.wantNeedsAuth(t, err, "This agent has no connected account for the connector")
	g.storeGrant(t, &bob.ID)
	g.mustSync(t, g.connector) // any live credential will do
	wantTokens(t, g, 1)
}

// wantTokens checks how many valid tokens the server received.
func wantTokens(t testing.TB, g *oauthServer, want int) {
	t.Helper()
	good := map[string]bool{}
	for _, token := range g.resource.Tokens() {
		if _, ok := g.as.Accepts(token); ok {
			good[token] = true
		}
	}
	if len(good) != want {
		t.Errorf("%d good tokens were sent", len(good))
	}
}

func TestProbe_OAuthAccountIsTriedAnonymously(t *testing.T) {
	t.Parallel()
	g := newOAuthServer(t, oauthtest.Behaviour{}, oauthtest.ResourceBehaviour{})
	d := draftTo(g.resource.URL, func(d *connectors.Draft) { d.Auth.Type, d.OAuth.ClientID = connectors.AuthOAuth2, "client" })
	rep, err := g.sync.Probe(t.Context(), g.Tenant, nil, d, connectors.Secret{ClientSecret: "s3cret"})
	if err != nil || rep.OK || rep.Error == nil {
		t.Fatalf("probe = %+v, %v", rep, err)
	}
	if rep.Error.Code != "unauthorized" || rep.Error.Message != "The server needs an account. Save the connector, then press Connect." {
		t.Errorf("%s: %s", rep.Error.Code, rep.Error.Message)
	}
	if tokens := g.resource.Tokens(); len(tokens) == 0 || strings.Join(tokens, "") != "" || len(g.as.Requests()) != 0 {
		t.Errorf("sent %d tokens, %d requests to the authorization server", len(tokens), len(g.as.Requests()))
	}
}

func TestProbe_MachineClientSignsInAndStoresNothing(t *testing.T) {
	t.Parallel()
	g := newOAuthServer(t, oauthtest.Behaviour{}, oauthtest.ResourceBehaviour{})
	d := draftTo(g.resource.URL, machineDraft, func(d *connectors.Draft) { d.OAuth.ClientID = "client" })
	before := g.Queries()
	rep, err := g.sync.Probe(t.Context(), g.Tenant, nil, d, connectors.Secret{ClientSecret: "s3cret"})
	if err != nil || !rep.OK || len(rep.Tools) != 2 {
		t.Errorf("probe = %+v, %v", rep, err)
	}
	if n := g.Queries() - before; n != 0 {
		t.Errorf("the probe asked the database %d times", n)
	}
	for name, tc := range map[string]struct {
		change func(*oauthtest.Behaviour)
		secret secret.Text
		code   string
		says   string
		said   string // by the authorization server
		remote fault.Remote
	}{
		"wrong secret": {secret: "wrong", said: `"error":"invalid_client"`, code: "unauthorized", says: "doesn't know this client or its secret", remote: fault.Remote{HTTPStatus: 401}},
		"unavailable": {secret: "s3cret", change: func(b *oauthtest.Behaviour) { b.Token = oauthtest.Unavailable },
			code: "http_status", says: "can't be reached or failed", said: `"error_description":"REFLECTED-`, remote: fault.Remote{HTTPStatus: 503, Retryable: true}},
		"page": {secret: "s3cret", change: func(b *oauthtest.Behaviour) { b.Token = oauthtest.Page },
			code: "protocol", says: "isn't valid OAuth", said: "<html>Just a moment…</html>", remote: fault.Remote{HTTPStatus: 200}},
		"resource": {secret: "s3cret", change: func(b *oauthtest.Behaviour) { b.RefuseResource = true },
			code: "unauthorized", says: "doesn't know this resource", said: `"error":"invalid_target"`, remote: fault.Remote{HTTPStatus: 400}},
	} {
		g.as.Set(func(b *oauthtest.Behaviour) {
			*b = oauthtest.Behaviour{}
			if tc.change != nil {
				tc.change(b)
			}
		})
		tc.remote.Phase = "auth"
		rep, err := g.sync.Probe(t.Context(), g.Tenant, nil, d, connectors.Secret{ClientSecret: tc.secret})
		if err != nil || rep.OK || rep.Error == nil {
			t.Errorf("%s: probe = %+v, %v", name, rep, err)
			continue
		}
		if tc.remote.Said = rep.Error.Remote.Said; !strings.Contains(tc.remote.Said, tc.said) {
			t.Errorf("%s: the authorization server said %q", name, tc.remote.Said)
		}
		if diff := cmp.Diff(&tc.remote, rep.Error.Remote); diff != "" || rep.Error.Code != tc.code || !strings.Contains(rep.Error.Message, tc.says) {
			t.Errorf("%s: %s: %s %s", name, rep.Error.Code, rep.Error.Message, diff)
		}
	}
}

func TestProbe_RefusesAKeyOfAnotherAlgorithm(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(t, err)
	der, err := x509.MarshalPKCS8PrivateKey(key)
	must(t, err)
	d := draftTo("http://127.0.0.1:1/mcp", func(d *connectors.Draft) {
		d.Auth.Type, d.OAuth.ClientID, d.OAuth.Algorithm = connectors.AuthPrivateKeyJWT, "client", "RS256"
	})
	_, err = b.sync.Probe(t.Context(), b.Tenant, nil, d, connectors.Secret{
		PrivateKey: secret.Text(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})),
	})
	if f := wantFault(t, err, fault.Invalid, ""); len(f.Fields) != 1 || f.Fields[0].Location != "auth.private_key" {
		t.Errorf("fields = %+v", f.Fields)
	}
}

func TestProbe_StoredMachineClientTriesNewSettings(t *testing.T) {
	t.Parallel()
	g := newOAuthServer(t, oauthtest.Behaviour{}, oauthtest.ResourceBehaviour{StepUp: map[string]string{"tools/list": "write"}}, machineDraft)
	g.storeSecret(t, connectors.Secret{ClientSecret: "s3cret"})
	d := connectors.DraftOf(g.connector)
	d.OAuth.Scopes = []string{"write"}
	rep, err := g.sync.ProbeStored(t.Context(), g.Tenant, nil, connectors.Ref(g.connector.Slug), d, connectors.Secret{})
	if err != nil || !rep.OK {
		t.Errorf("probe = %+v, %v", rep, err)
	}
	if c := g.credential(t); c.Version != 1 || c.ExpiresAt != nil {
		t.Errorf("credential = %+v", c)
	}
	g.as.ForgetClients()
	rep, err = g.sync.ProbeStored(t.Context(), g.Tenant, nil, connectors.Ref(g.connector.Slug), d, connectors.Secret{})
	if err != nil || rep.OK || rep.Error == nil || rep.Error.Code != "unauthorized" {
		t.Errorf("probe = %+v, %v", rep, err)
	}
	if c := g.credential(t); c.Status != connectors.CredentialActive {
		t.Errorf("credential = %+v", c)
	}
}

func TestProbe_StoredAccountIsUsedWhileItStaysValid(t *testing.T) {
	t.Parallel()
	g := newOAuthServer(t, oauthtest.Behaviour{}, oauthtest.ResourceBehaviour{})
	g.storeGrant(t, nil)
	probe := func(change func(*connectors.OAuthSettings)) toolsync.ProbeReport {
		d := connectors.DraftOf(g.connector)
		change(&d.OAuth)
		rep, err := g.sync.ProbeStored(t.Context(), g.Tenant, nil, connectors.Ref(g.connector.Slug), d, connectors.Secret{})
		if err != nil || rep.OK == (rep.Error != nil) {
			t.Fatalf("probe = %+v, %v", rep, err)
		}
		return rep
	}
	if rep := probe(func(s *connectors.OAuthSettings) { s.Scopes = []string{"write"} }); !rep.OK {
		t.Errorf("other scopes: %+v", rep)
	}
	if rep := probe(func(s *connectors.OAuthSettings) { s.ClientID = "another" }); rep.OK || !strings.HasPrefix(rep.Error.Message, "The server needs an account.") {
		t.Errorf("another client: %+v", rep)
	}
	g.as.ExpireAccess()
	if rep := probe(func(*connectors.OAuthSettings) {}); rep.OK || !strings.Contains(rep.Error.Message, "refused the connected account (401)") {
		t.Errorf("ended: %+v", rep)
	}
	if c := g.credential(t); c.Status != connectors.CredentialActive || c.Version != 1 {
		t.Errorf("credential = %+v", c)
	}
}

// Tokens that are bound to a key (RFC 9449) are proven in each request, whatever nonces the servers want.
func TestSync_ProvesBoundTokens(t *testing.T) {
	t.Parallel()
	g := newOAuthServer(t, oauthtest.Behaviour{DPoP: true, Nonce: "n-1"}, oauthtest.ResourceBehaviour{TakesProofs: true, Nonce: "n-2"}, machineDraft)
	g.storeSecret(t, connectors.Secret{ClientSecret: "s3cret"})
	g.mustSync(t, g.connector)
	g.resource.Set(func(r *oauthtest.ResourceBehaviour) { r.Nonce = "n-3" })
	g.as.ExpireAccess()
	if run := g.mustSync(t, g.connector); run.Counts.Total != 2 {
		t.Errorf("run = %+v", run)
	}
	for _, token := range g.resource.Tokens() {
		if token == "" {
			t.Error("a request came without its token")
		}
	}
	if n := g.as.Count(oauthtest.ClientCredentials); n != 4 { // each token takes one more, for the nonce
		t.Errorf("%d requests for tokens", n)
	}
}
