package credentials_test

import (
	"strings"
	"testing"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/credentials"
	"patchbay/internal/fault"
	"patchbay/internal/oauth"
	"patchbay/internal/oauth/oauthtest"
)

// troubles are failures of a token endpoint that say nothing about the grant.
var troubles = map[string]oauthtest.Trouble{
	"503": oauthtest.Unavailable, "500": oauthtest.ServerError, "429": oauthtest.TooMany, "reset": oauthtest.Reset,
	"page": oauthtest.Page, "redirect": oauthtest.Redirect, "hang": oauthtest.Hang,
}

// setTimeoutFor shortens the timeout for a failure without a response. The request has to arrive before.
func (c *connection) setTimeoutFor(trouble oauthtest.Trouble) {
	if trouble == oauthtest.Hang {
		c.oauth.Timeout = 1500 * time.Millisecond
	}
}

func TestRefresh_TemporaryFailureKeepsToken(t *testing.T) {
	t.Parallel()
	for name, trouble := range troubles {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newConnection(t, oauthtest.Behaviour{RetryAfter: "3600"}, time.Now().Add(time.Minute))
			c.as.Set(func(b *oauthtest.Behaviour) { b.Token = trouble })
			c.setTimeoutFor(trouble)
			r := c.newReplica(t)
			first, err := r.Resolve(t.Context(), c.Tenant, c.connector, credentials.Account{})
			must(t, err)
			for range 3 { // after the retry delay
				_, err := r.ForceRefresh(t.Context(), c.Tenant, c.connector, first.ID, first.Version)
				wantNotRenewed(t, err)
				u, err := r.Resolve(t.Context(), c.Tenant, c.connector, credentials.Account{})
				if err != nil || u == nil || u.Version != first.Version {
					t.Errorf("the living token: %v, %v", u, err)
				}
			}
			if got := c.status(t); got != connectors.CredentialRefreshFailed {
				t.Errorf("status %s", got)
			}
			if n := c.as.Count(oauthtest.Refresh); n != 1 {
				t.Errorf("%d refreshes", n)
			}
			if got := c.reloadConnector(t).Status; got == connectors.StatusNeedsAuth {
				t.Errorf("the connector is %s", got)
			}
		})
	}
}

func TestRefresh_ExpiredTokenRetriesWithin20s(t *testing.T) {
	t.Parallel()
	for name, trouble := range troubles {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newConnection(t, oauthtest.Behaviour{RetryAfter: "3600"}, time.Now().Add(-time.Minute))
			c.as.Set(func(b *oauthtest.Behaviour) { b.Token = trouble })
			c.setTimeoutFor(trouble)
			r := c.newResolver()
			for range 3 {
				_, err := r.Headers(t.Context(), c.Tenant, c.connector, credentials.Account{})
				wantNotRenewed(t, err)
			}
			if got := c.storedGrant(t, nil).Status; got != connectors.CredentialRefreshFailed {
				t.Errorf("status %s", got)
			}
			if wait := c.skipRetryDelay(t); wait > 20*time.Second {
				t.Errorf("tried again after %s", wait)
			}
			c.as.Set(func(b *oauthtest.Behaviour) { b.Token = oauthtest.NoTrouble })
			if _, ok := c.as.Accepts(c.token(t, r, nil)); !ok {
				t.Error("it did not recover")
			}
			g := c.storedGrant(t, nil)
			if g.Status != connectors.CredentialActive || g.Error != "" || g.Tokens.Meta.LostAnswer || c.as.Count(oauthtest.Refresh) != 2 {
				t.Errorf("grant = %+v after %d refreshes", g.Credential, c.as.Count(oauthtest.Refresh))
			}
		})
	}
}

func TestRefresh_SlowEndpointDoesNotBlockValidToken(t *testing.T) {
	t.Parallel()
	c := newConnection(t, oauthtest.Behaviour{Token: oauthtest.NoTrouble}, time.Now().Add(time.Hour))
	c.expireIn(t, time.Minute)
	silence := make(chan struct{})
	c.as.Set(func(b *oauthtest.Behaviour) { b.Hold, b.Token = silence, oauthtest.Reset })
	r := c.newResolver(func(o *credentials.Options) { o.RefreshWait = time.Millisecond })
	living := c.storedGrant(t, nil).Tokens.AccessToken.Reveal()
	for range 5 {
		if got := c.token(t, r, nil); got != living {
			t.Error("another token than the living one")
		}
	}
	<-c.as.Arrived(oauthtest.Refresh)
	if got := c.storedGrant(t, nil).Status; got != connectors.CredentialActive {
		t.Errorf("somebody waited for the request to end: %s", got)
	}
	close(silence)
	r.Stop(t.Context()) // until the request has ended
	g := c.storedGrant(t, nil)
	if n := c.as.Count(oauthtest.Refresh); n != 1 || g.Status != connectors.CredentialRefreshFailed || !g.Tokens.Meta.LostAnswer {
		t.Errorf("%d refreshes, grant = %+v", n, g.Credential)
	}
	if got := c.token(t, c.newResolver(), nil); got != living {
		t.Error("the living token is not used any more")
	}
}

func TestRefresh_DeadGrantIsNotRetried(t *testing.T) {
	t.Parallel()
	c := newConnection(t, oauthtest.Behaviour{}, time.Now().Add(-time.Minute))
	c.as.EndGrants()
	r := c.newReplica(t)
	for range 2 {
		_, err := r.Headers(t.Context(), c.Tenant, c.connector, credentials.Account{})
		wantMissing(t, err)
		want := `Reconnect the account for "` + c.connector.Name + `": the authorization server ended access.`
		if got := fault.As(err).Message; got != want {
			t.Errorf("message %q", got)
		}
	}
	if got, n := c.status(t), c.as.Count(oauthtest.Refresh); got != connectors.CredentialRevoked || n != 1 {
		t.Errorf("status %s after %d refreshes", got, n)
	}
	now := c.reloadConnector(t)
	if now.Status != connectors.StatusNeedsAuth || now.LastError.Message != "The authorization server ended access. Connect again." {
		t.Errorf("connector: %s, %+v", now.Status, now.LastError)
	}
}

// The worst case of a rotating refresh token: it was used, and its successor was lost.
func TestRefresh_RecognisesLostRotation(t *testing.T) {
	t.Parallel()
	c := newConnection(t, oauthtest.Behaviour{Rotate: true}, time.Now().Add(-time.Minute))
	c.as.Set(func(b *oauthtest.Behaviour) { b.Token = oauthtest.DropAfterEffect })
	r := c.newResolver()
	_, err := r.Headers(t.Context(), c.Tenant, c.connector, credentials.Account{})
	wantNotRenewed(t, err)
	c.skipRetryDelay(t)
	c.as.Set(func(b *oauthtest.Behaviour) { b.Token = oauthtest.NoTrouble })
	c.wantLost(t, r)
}

func TestRefresh_RecognisesRotationOfDeadProcess(t *testing.T) {
	t.Parallel()
	c := newConnection(t, oauthtest.Behaviour{Rotate: true}, time.Now().Add(-time.Minute))
	g := c.storedGrant(t, nil)
	_, ok, err := c.St.Vault(c.Tenant).LeaseGrant(t.Context(), g, time.Millisecond)
	if !ok || err != nil {
		t.Fatal(ok, err)
	}
	peer := oauth.Peer{Server: g.Tokens.Meta.Server, Client: c.client, Resource: g.Tokens.Meta.Resource}
	_, err = c.oauth.Refresh(t.Context(), peer, oauth.Secret(g.Tokens.RefreshToken.Reveal())) // and then the process was killed
	must(t, err)
	c.wantLost(t, c.newReplica(t))
}

func (c *connection) wantLost(t *testing.T, r *credentials.Resolver) {
	t.Helper()
	_, err := r.Headers(t.Context(), c.Tenant, c.connector, credentials.Account{})
	wantMissing(t, err)
	if got := fault.As(err).Message; got != `Reconnect the account for "`+c.connector.Name+`": the authorization server's response to a token refresh was lost, which ended access.` {
		t.Errorf("message %q", got)
	}
	g := c.storedGrant(t, nil)
	if g.Status != connectors.CredentialRevoked || !strings.HasPrefix(g.Error, "The authorization server's response to a token refresh was lost") {
		t.Errorf("grant = %+v", g.Credential)
	}
}

func TestRefresh_UnknownClientRegistersAgain(t *testing.T) {
	t.Parallel()
	c := newConnection(t, oauthtest.Behaviour{}, time.Now().Add(-time.Minute))
	c.as.ForgetClients()
	_, err := c.newResolver().Headers(t.Context(), c.Tenant, c.connector, credentials.Account{})
	wantMissing(t, err)
	if got := fault.As(err).Message; got != `Reconnect the account for "`+c.connector.Name+`": the authorization server no longer knows our client.` {
		t.Errorf("message %q", got)
	}
	_, err = c.St.Vault(c.Tenant).Registration(t.Context(), c.as.Issuer, redirectURI)
	if !fault.Is(err, fault.NotFound) {
		t.Errorf("the registration is still there: %v", err)
	}
	if got, n := c.status(t), c.as.Count(oauthtest.Refresh); got != connectors.CredentialRevoked || n != 1 {
		t.Errorf("status %s after %d refreshes", got, n)
	}
}

// The database is lost before the only valid refresh token is written.
func TestRefresh_RetriesWrite(t *testing.T) {
	t.Parallel()
	hold := make(chan struct{})
	c := newConnection(t, oauthtest.Behaviour{Rotate: true}, time.Now().Add(-time.Minute))
	c.as.Set(func(b *oauthtest.Behaviour) { b.Hold = hold })
	r, result := c.newReplica(t), make(chan error, 1)
	go func() {
		_, err := r.Headers(t.Context(), c.Tenant, c.connector, credentials.Account{})
		result <- err
	}()
	<-c.as.Arrived(oauthtest.Refresh)
	c.disconnectDatabase(t)
	close(hold)
	must(t, <-result)
	if g := c.storedGrant(t, nil); g.Version != 2 || g.Status != connectors.CredentialActive || g.Tokens.Meta.LostAnswer {
		t.Errorf("grant = %+v", g.Credential)
	}
}
