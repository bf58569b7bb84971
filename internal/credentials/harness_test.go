package credentials_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"patchbay/db"
	"patchbay/internal/connectors"
	"patchbay/internal/credentials"
	"patchbay/internal/oauth"
	"patchbay/internal/oauth/oauthtest"
	"patchbay/internal/safehttp"
	"patchbay/internal/secret"
	"patchbay/internal/store"
	"patchbay/internal/testing/fixture"
)

const redirectURI = "https://patchbay.example/oauth/callback"

// connection is a connector with a protected server and its authorization server.
type connection struct {
	*fixture.World
	as        *oauthtest.Server
	resource  *oauthtest.Resource
	oauth     *oauth.Client
	connector connectors.Connector
	client    oauth.Registration
}

// newConnection has the shared grant of a registered client, with a token until expiresAt.
func newConnection(t testing.TB, b oauthtest.Behaviour, expiresAt time.Time) *connection {
	t.Helper()
	c := newEmptyConnection(t, b)
	c.saveGrant(t, nil, expiresAt)
	return c
}

// newEmptyConnection has no grant.
func newEmptyConnection(t testing.TB, b oauthtest.Behaviour, opts ...func(*connectors.Draft)) *connection {
	t.Helper()
	p := safehttp.New(safehttp.Options{Mode: safehttp.Local})
	t.Cleanup(p.Client().CloseIdleConnections)
	c := &connection{World: fixture.New(t), as: oauthtest.Start(t, b), oauth: &oauth.Client{HTTP: p.Client(), CheckURL: p.CheckURL}}
	c.resource = c.as.Protect(t, oauthtest.ResourceBehaviour{})
	c.connector = c.Connector(t, append([]func(*connectors.Draft){func(d *connectors.Draft) {
		d.URL, d.Auth.Type = c.resource.URL, connectors.AuthOAuth2
	}}, opts...)...)
	return c
}

// saveGrant connects the shared account (nil) or an agent's, with the admin's client if there is one.
func (c *connection) saveGrant(t testing.TB, agent *connectors.AgentID, expiresAt time.Time) {
	t.Helper()
	must(t, c.Door().Accounts().SaveGrant(t.Context(), c.newGrant(t, agent, expiresAt)))
}

// newGrant connects an account without storing it.
func (c *connection) newGrant(t testing.TB, agent *connectors.AgentID, expiresAt time.Time) store.NewGrant {
	t.Helper()
	d, err := c.oauth.Discover(t.Context(), oauth.Target{ServerURL: c.connector.URL})
	must(t, err)
	c.registerClient(t, d)
	peer, pkce, state := oauth.Peer{Server: d.Server, Client: c.client, Resource: d.Resource}, oauth.NewPKCE(), oauth.NewState()
	page, err := c.oauth.AuthorizationURL(oauth.AuthorizationRequest{Peer: peer, RedirectURI: redirectURI, State: state, Challenge: pkce.Challenge})
	must(t, err)
	resp, err := c.oauth.HTTP.Get(page)
	must(t, err)
	must(t, resp.Body.Close())
	back, err := resp.Location()
	must(t, err)
	code, err := oauth.ReadCallback(back.Query(), d.Server)
	must(t, err)
	token, err := c.oauth.Exchange(t.Context(), peer, oauth.Grant{Code: code, RedirectURI: redirectURI, Verifier: pkce.Verifier})
	must(t, err)
	return store.NewGrant{
		ConnectorID: c.connector.ID, AgentID: agent, Origin: connectors.Origin(c.connector.URL),
		GrantTokens: store.GrantTokens{
			AccessToken: secret.Text(token.AccessToken.Reveal()), RefreshToken: secret.Text(token.RefreshToken.Reveal()), ExpiresAt: &expiresAt,
			Meta: store.GrantMeta{
				Server: d.Server, ClientID: c.client.ClientID, RedirectURI: redirectURI, Resource: d.Resource, Source: c.client.Source,
				Refreshable: token.RefreshToken != "",
			},
		},
	}
}

func (c *connection) registerClient(t testing.TB, d *oauth.Discovery) {
	t.Helper()
	if c.client.ClientID != "" {
		return
	}
	r := oauth.RegisterRequest{Server: d.Server, ClientName: "Patchbay", RedirectURIs: []string{redirectURI}}
	if id := c.connector.OAuth.ClientID; id != "" {
		c.as.AddClient(id, "by hand: s&cret", nil, redirectURI)
		must(t, c.Door().Connectors().SetClientSecret(t.Context(), c.connector, "by hand: s&cret"))
		r.Configured = oauth.Registration{ClientID: id, ClientSecret: "by hand: s&cret"}
	}
	var err error
	c.client, err = c.oauth.Register(t.Context(), r)
	must(t, err)
	if c.client.Source == oauth.SourceDynamic {
		must(t, c.Door().Accounts().SaveRegistration(t.Context(), redirectURI, c.client))
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// newReplica is a Resolver of another process on the same database.
func (c *connection) newReplica(t testing.TB, opts ...func(*credentials.Options)) *credentials.Resolver {
	t.Helper()
	pool, err := db.OpenPool(t.Context(), c.URL, db.PoolOptions{MaxConns: 4})
	must(t, err)
	t.Cleanup(pool.Close)
	st, err := store.Open(t.Context(), pool, c.KEK)
	must(t, err)
	t.Cleanup(st.Close)
	o := credentials.Options{Store: st, OAuth: c.oauth}
	for _, opt := range opts {
		opt(&o)
	}
	return credentials.NewRefreshing(o)
}

func withLease(d time.Duration) func(*credentials.Options) {
	return func(o *credentials.Options) { o.Lease = d }
}

// newResolver is a Resolver of this process.
func (c *connection) newResolver(opts ...func(*credentials.Options)) *credentials.Resolver {
	o := credentials.Options{Store: c.St, OAuth: c.oauth}
	for _, opt := range opts {
		opt(&o)
	}
	return credentials.NewRefreshing(o)
}

func (c *connection) storedGrant(t testing.TB, agent *connectors.AgentID) store.Grant {
	t.Helper()
	g, err := c.St.Vault(c.Tenant).Grant(t.Context(), c.connector.ID, agent)
	must(t, err)
	return g
}

// status is the only credential's status in the list.
func (c *connection) status(t testing.TB) connectors.CredentialStatus {
	t.Helper()
	list, err := c.Door().Connectors().Credentials(t.Context(), c.connector.ID, store.Page{})
	must(t, err)
	return list.Items[0].Status
}

// skipRetryDelay ends the delay after a failure, and returns its length.
func (c *connection) skipRetryDelay(t testing.TB) time.Duration {
	t.Helper()
	g := c.storedGrant(t, nil)
	if g.RetryAt == nil {
		t.Fatalf("nothing to wait for: %s", g.Status)
	}
	_, err := c.Pool.Exec(t.Context(), "begin; select set_config('app.system', 'on', true); update credentials set retry_at = now(); commit")
	must(t, err)
	return time.Until(*g.RetryAt)
}

// expireIn makes the stored access token due, and expire after validFor.
func (c *connection) expireIn(t testing.TB, validFor time.Duration) {
	t.Helper()
	_, err := c.Pool.Exec(t.Context(), fmt.Sprintf("begin; select set_config('app.system', 'on', true); "+
		"update credentials set updated_at = now() - interval '1 hour', expires_at = now() + interval '%d milliseconds'; commit", validFor.Milliseconds()))
	must(t, err)
}

// disconnectDatabase terminates all database connections, as a restart does.
func (c *connection) disconnectDatabase(t testing.TB) {
	t.Helper()
	owner, err := pgx.Connect(t.Context(), c.URL)
	must(t, err)
	defer owner.Close(t.Context())
	_, err = owner.Exec(t.Context(), "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()")
	must(t, err)
	c.Pool.Reset()
}

func (c *connection) reloadConnector(t testing.TB) connectors.Connector {
	t.Helper()
	now, err := c.Door().Connectors().Get(t.Context(), connectors.Ref(c.connector.ID.String()))
	must(t, err)
	return now
}

// token is the access token that the agent sends.
func (c *connection) token(t testing.TB, r *credentials.Resolver, agent *connectors.AgentID) string {
	t.Helper()
	headers, err := r.Headers(t.Context(), c.Tenant, c.connector, credentials.Account{Agent: agent})
	return authorizationHeader(t, headers, err)[len("Bearer "):]
}
