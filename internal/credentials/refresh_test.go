package credentials_test

import (
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

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

// connection is a connector with a grant whose access token has ended.
type connection struct {
	*fixture.World
	as        *oauthtest.Server
	oauth     *oauth.Client
	connector connectors.Connector
}

func connect(t *testing.T, b oauthtest.Behaviour, ends time.Time) connection {
	t.Helper()
	p := safehttp.New(safehttp.Options{Mode: safehttp.Local})
	t.Cleanup(p.Client().CloseIdleConnections)
	c := connection{World: fixture.New(t), as: oauthtest.Start(t, b), oauth: &oauth.Client{HTTP: p.Client(), CheckURL: p.CheckURL}}
	resource := c.as.Protect(t, oauthtest.ResourceBehaviour{})
	c.connector = c.Connector(t, func(d *connectors.Draft) { d.URL, d.Auth.Type = resource.URL, connectors.AuthOAuth2 })

	d, err := c.oauth.Discover(t.Context(), oauth.Target{ServerURL: resource.URL})
	must(t, err)
	client, err := c.oauth.Register(t.Context(), oauth.RegisterRequest{Server: d.Server, ClientName: "Patchbay", RedirectURIs: []string{redirectURI}})
	must(t, err)
	peer, pkce, state := oauth.Peer{Server: d.Server, Client: client, Resource: d.Resource}, oauth.NewPKCE(), oauth.NewState()
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

	must(t, c.Door().SaveRegistration(t.Context(), redirectURI, client))
	must(t, c.Door().SaveGrant(t.Context(), store.NewGrant{
		ConnectorID: c.connector.ID, Origin: connectors.Origin(resource.URL),
		GrantTokens: store.GrantTokens{
			AccessToken: secret.Text(token.AccessToken.Reveal()), RefreshToken: secret.Text(token.RefreshToken.Reveal()), ExpiresAt: &ends,
			Meta: store.GrantMeta{Server: d.Server, ClientID: client.ClientID, RedirectURI: redirectURI, Resource: d.Resource},
		},
	}))
	return c
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// replica is a Resolver of another process on the same database.
func (c connection) replica(t *testing.T) *credentials.Resolver {
	t.Helper()
	pool, err := db.OpenPool(t.Context(), c.URL, db.PoolOptions{MaxConns: 4})
	must(t, err)
	t.Cleanup(pool.Close)
	st, err := store.Open(t.Context(), pool, c.KEK)
	must(t, err)
	t.Cleanup(st.Close)
	return credentials.NewRefreshing(credentials.Options{Store: st, OAuth: c.oauth})
}

func (c connection) status(t *testing.T) connectors.CredentialStatus {
	t.Helper()
	list, err := c.Door().Credentials(t.Context(), c.connector.ID, store.Page{})
	must(t, err)
	return list.Items[0].Status
}

func TestFiftyUsersOfAnExpiredTokenCauseOneRefresh(t *testing.T) {
	t.Parallel()
	for name, replicas := range map[string]int{"one process": 1, "three processes": 3} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			hold := make(chan struct{})
			c := connect(t, oauthtest.Behaviour{Rotate: true}, time.Now().Add(-time.Minute))
			c.as.Set(func(b *oauthtest.Behaviour) { b.Hold = hold })
			var all []*credentials.Resolver
			for range replicas {
				all = append(all, c.replica(t))
			}
			var users errgroup.Group
			for i := range 50 {
				users.Go(func() error {
					headers, err := all[i%replicas].For(t.Context(), c.Tenant, c.connector, nil)
					if err != nil {
						return err
					}
					if _, ok := c.as.Accepts(headers[0].Value.Reveal()[len("Bearer "):]); !ok {
						t.Error("a user got a token that is not good")
					}
					return nil
				})
			}
			<-c.as.Arrived(oauthtest.Refresh)
			close(hold)
			must(t, users.Wait())
			if n := c.as.Count(oauthtest.Refresh); n != 1 {
				t.Errorf("%d refreshes", n)
			}
		})
	}
}

func TestTroubleAtARefreshKeepsTheGrantAndItsLivingToken(t *testing.T) {
	t.Parallel()
	for name, trouble := range map[string]oauthtest.Trouble{
		"503": oauthtest.Unavailable, "500": oauthtest.ServerError, "reset": oauthtest.Reset, "page": oauthtest.Page,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := connect(t, oauthtest.Behaviour{}, time.Now().Add(time.Minute))
			c.as.Set(func(b *oauthtest.Behaviour) { b.Token = trouble })
			r := c.replica(t)
			first, err := r.Of(t.Context(), c.Tenant, c.connector, nil)
			must(t, err)
			for range 3 { // the failure is waited out
				u, err := r.Forced(t.Context(), c.Tenant, c.connector, nil, first.Version)
				if err != nil || u == nil {
					t.Errorf("forced: %v, %v", u, err)
				}
			}
			if got := c.status(t); got != connectors.CredentialRefreshFailed {
				t.Errorf("status %s", got)
			}
			if n := c.as.Count(oauthtest.Refresh); n != 1 {
				t.Errorf("%d refreshes", n)
			}
		})
	}
}

func TestADeadGrantNeedsAPersonAndIsNotAskedAgain(t *testing.T) {
	t.Parallel()
	c := connect(t, oauthtest.Behaviour{}, time.Now().Add(-time.Minute))
	c.as.EndGrants()
	r := c.replica(t)
	for range 2 {
		_, err := r.For(t.Context(), c.Tenant, c.connector, nil)
		wantMissing(t, err)
	}
	if got, n := c.status(t), c.as.Count(oauthtest.Refresh); got != connectors.CredentialRevoked || n != 1 {
		t.Errorf("status %s after %d refreshes", got, n)
	}
}

func TestTheLeaseOfADeadProcessIsTakenOver(t *testing.T) {
	t.Parallel()
	c := connect(t, oauthtest.Behaviour{Rotate: true}, time.Now().Add(-time.Minute))
	vault := c.St.Vault(c.Tenant)
	g, err := vault.Grant(t.Context(), c.connector.ID, nil)
	must(t, err)
	if _, ok, err := vault.LeaseGrant(t.Context(), g, 200*time.Millisecond); !ok || err != nil {
		t.Fatal(ok, err)
	}
	_, err = c.replica(t).For(t.Context(), c.Tenant, c.connector, nil)
	must(t, err)
	if n := c.as.Count(oauthtest.Refresh); n != 1 {
		t.Errorf("%d refreshes", n)
	}
}

func TestARefusedTokenCausesOneRefreshForItsVersion(t *testing.T) {
	t.Parallel()
	c := connect(t, oauthtest.Behaviour{}, time.Now().Add(time.Hour))
	r := c.replica(t)
	first, err := r.Of(t.Context(), c.Tenant, c.connector, nil)
	must(t, err)
	for range 3 {
		u, err := r.Forced(t.Context(), c.Tenant, c.connector, nil, first.Version)
		if err != nil || u == nil || u.Version != first.Version+1 {
			t.Errorf("forced: %+v, %v", u, err)
		}
	}
	if n := c.as.Count(oauthtest.Refresh); n != 1 {
		t.Errorf("%d refreshes", n)
	}
}
