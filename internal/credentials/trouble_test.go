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

// troubles are what a token endpoint may do without a word about the grant.
var troubles = map[string]oauthtest.Trouble{
	"503": oauthtest.Unavailable, "500": oauthtest.ServerError, "429": oauthtest.TooMany, "reset": oauthtest.Reset,
	"page": oauthtest.Page, "redirect": oauthtest.Redirect, "hang": oauthtest.Hang,
}

// impatientWith shortens the wait for an answer that never comes. The request has to arrive meanwhile.
func (c *connection) impatientWith(trouble oauthtest.Trouble) {
	if trouble == oauthtest.Hang {
		c.oauth.Timeout = 1500 * time.Millisecond
	}
}

func TestTroubleAtARefreshKeepsTheGrantAndItsLivingToken(t *testing.T) {
	t.Parallel()
	for name, trouble := range troubles {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := connect(t, oauthtest.Behaviour{RetryAfter: "3600"}, time.Now().Add(time.Minute))
			c.as.Set(func(b *oauthtest.Behaviour) { b.Token = trouble })
			c.impatientWith(trouble)
			r := c.replica(t)
			first, err := r.Of(t.Context(), c.Tenant, c.connector, nil)
			must(t, err)
			for range 3 { // the failure is waited out
				_, err := r.Forced(t.Context(), c.Tenant, c.connector, nil, first.Version)
				wantNotNow(t, err)
				u, err := r.Of(t.Context(), c.Tenant, c.connector, nil)
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
			if got := c.now(t).Status; got == connectors.StatusNeedsAuth {
				t.Errorf("the connector is %s", got)
			}
		})
	}
}

func TestTroubleWithAnEndedTokenIsWaitedOutForTwentySecondsAtMostAndPasses(t *testing.T) {
	t.Parallel()
	for name, trouble := range troubles {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := connect(t, oauthtest.Behaviour{RetryAfter: "3600"}, time.Now().Add(-time.Minute))
			c.as.Set(func(b *oauthtest.Behaviour) { b.Token = trouble })
			c.impatientWith(trouble)
			r := c.here()
			for range 3 {
				_, err := r.For(t.Context(), c.Tenant, c.connector, nil)
				wantNotNow(t, err)
			}
			if got := c.stored(t, nil).Status; got != connectors.CredentialRefreshFailed {
				t.Errorf("status %s", got)
			}
			if wait := c.waited(t); wait > 20*time.Second {
				t.Errorf("tried again after %s", wait)
			}
			c.as.Set(func(b *oauthtest.Behaviour) { b.Token = oauthtest.NoTrouble })
			if _, ok := c.as.Accepts(c.token(t, r, nil)); !ok {
				t.Error("it did not recover")
			}
			g := c.stored(t, nil)
			if g.Status != connectors.CredentialActive || g.Error != "" || g.Tokens.Meta.LostAnswer || c.as.Count(oauthtest.Refresh) != 2 {
				t.Errorf("grant = %+v after %d refreshes", g.Credential, c.as.Count(oauthtest.Refresh))
			}
		})
	}
}

func TestASlowTokenEndpointHoldsNobodyUpWhoseTokenLives(t *testing.T) {
	t.Parallel()
	c := connect(t, oauthtest.Behaviour{Token: oauthtest.NoTrouble}, time.Now().Add(time.Hour))
	c.shorten(t, time.Minute)
	silence := make(chan struct{})
	c.as.Set(func(b *oauthtest.Behaviour) { b.Hold, b.Token = silence, oauthtest.Reset })
	r := c.here(func(o *credentials.Options) { o.Patience = time.Millisecond })
	living := c.stored(t, nil).Tokens.AccessToken.Reveal()
	for range 5 {
		if got := c.token(t, r, nil); got != living {
			t.Error("another token than the living one")
		}
	}
	<-c.as.Arrived(oauthtest.Refresh)
	if got := c.stored(t, nil).Status; got != connectors.CredentialActive {
		t.Errorf("somebody waited for the request to end: %s", got)
	}
	close(silence)
	r.Stop(t.Context()) // the one request has come to its end
	g := c.stored(t, nil)
	if n := c.as.Count(oauthtest.Refresh); n != 1 || g.Status != connectors.CredentialRefreshFailed || !g.Tokens.Meta.LostAnswer {
		t.Errorf("%d refreshes, grant = %+v", n, g.Credential)
	}
	if got := c.token(t, c.here(), nil); got != living {
		t.Error("the living token is not used any more")
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
		want := `The account of the connector "` + c.connector.Name + `" must be connected again: the authorization server ended the access.`
		if got := fault.As(err).Message; got != want {
			t.Errorf("message %q", got)
		}
	}
	if got, n := c.status(t), c.as.Count(oauthtest.Refresh); got != connectors.CredentialRevoked || n != 1 {
		t.Errorf("status %s after %d refreshes", got, n)
	}
	now := c.now(t)
	if now.Status != connectors.StatusNeedsAuth || now.LastError.Message != "The authorization server ended the access. Connect again." {
		t.Errorf("connector: %s, %+v", now.Status, now.LastError)
	}
}

// The worst that can happen to a rotating refresh token: it was used, and its successor never arrived.
func TestAnAnswerThatWasLostInARotationIsRecognised(t *testing.T) {
	t.Parallel()
	c := connect(t, oauthtest.Behaviour{Rotate: true}, time.Now().Add(-time.Minute))
	c.as.Set(func(b *oauthtest.Behaviour) { b.Token = oauthtest.DropAfterEffect })
	r := c.here()
	_, err := r.For(t.Context(), c.Tenant, c.connector, nil)
	wantNotNow(t, err)
	c.waited(t)
	c.as.Set(func(b *oauthtest.Behaviour) { b.Token = oauthtest.NoTrouble })
	c.wantLost(t, r)
}

func TestAnAnswerThatDiedWithItsProcessIsRecognised(t *testing.T) {
	t.Parallel()
	c := connect(t, oauthtest.Behaviour{Rotate: true}, time.Now().Add(-time.Minute))
	g := c.stored(t, nil)
	_, ok, err := c.St.Vault(c.Tenant).LeaseGrant(t.Context(), g, time.Millisecond)
	if !ok || err != nil {
		t.Fatal(ok, err)
	}
	peer := oauth.Peer{Server: g.Tokens.Meta.Server, Client: c.client, Resource: g.Tokens.Meta.Resource}
	_, err = c.oauth.Refresh(t.Context(), peer, oauth.Secret(g.Tokens.RefreshToken.Reveal())) // and then it was killed
	must(t, err)
	c.wantLost(t, c.replica(t))
}

func (c *connection) wantLost(t *testing.T, r *credentials.Resolver) {
	t.Helper()
	_, err := r.For(t.Context(), c.Tenant, c.connector, nil)
	wantMissing(t, err)
	if got := fault.As(err).Message; !strings.Contains(got, "must be connected again: an answer of the authorization server was lost") {
		t.Errorf("message %q", got)
	}
	g := c.stored(t, nil)
	if g.Status != connectors.CredentialRevoked || !strings.HasPrefix(g.Error, "An answer of the authorization server was lost") {
		t.Errorf("grant = %+v", g.Credential)
	}
}

func TestAForgottenClientRegistersAnewAtTheNextConnection(t *testing.T) {
	t.Parallel()
	c := connect(t, oauthtest.Behaviour{}, time.Now().Add(-time.Minute))
	c.as.ForgetClients()
	_, err := c.here().For(t.Context(), c.Tenant, c.connector, nil)
	wantMissing(t, err)
	if got := fault.As(err).Message; !strings.HasSuffix(got, "must be connected again: the authorization server does not know our client any more.") {
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

// The database goes away in the moment in which the only good refresh token is to be written.
func TestATokenThatCannotBeWrittenAtOnceIsWrittenLater(t *testing.T) {
	t.Parallel()
	hold := make(chan struct{})
	c := connect(t, oauthtest.Behaviour{Rotate: true}, time.Now().Add(-time.Minute))
	c.as.Set(func(b *oauthtest.Behaviour) { b.Hold = hold })
	r, result := c.replica(t), make(chan error, 1)
	go func() {
		_, err := r.For(t.Context(), c.Tenant, c.connector, nil)
		result <- err
	}()
	<-c.as.Arrived(oauthtest.Refresh)
	c.disconnectDatabase(t)
	close(hold)
	must(t, <-result)
	if g := c.stored(t, nil); g.Version != 2 || g.Status != connectors.CredentialActive || g.Tokens.Meta.LostAnswer {
		t.Errorf("grant = %+v", g.Credential)
	}
}
