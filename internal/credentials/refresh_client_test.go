package credentials_test

import (
	"strings"
	"testing"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/credentials"
	"patchbay/internal/fault"
	"patchbay/internal/oauth/oauthtest"
)

// newConfiguredConnection has a client that an admin registered.
func newConfiguredConnection(t *testing.T, b oauthtest.Behaviour, opts ...func(*connectors.Draft)) *connection {
	t.Helper()
	c := newEmptyConnection(t, b, append([]func(*connectors.Draft){func(d *connectors.Draft) { d.OAuth.ClientID = "by-hand" }}, opts...)...)
	c.saveGrant(t, nil, time.Now().Add(-time.Minute))
	return c
}

func TestConfiguredClient_RefreshesWithItsSettings(t *testing.T) {
	t.Parallel()
	for method, wantForm := range map[string]bool{"": false, "client_secret_basic": false, "client_secret_post": true} {
		t.Run(method, func(t *testing.T) {
			t.Parallel()
			c := newConfiguredConnection(t, oauthtest.Behaviour{Rotate: true}, func(d *connectors.Draft) { d.OAuth.TokenEndpointAuthMethod = method })
			if _, ok := c.as.Accepts(c.token(t, c.newResolver(), nil)); !ok {
				t.Error("the token is not good")
			}
			r := c.as.Requests(oauthtest.Refresh)[0]
			if inForm := r.Form.Has("client_secret"); inForm != wantForm || inForm == (r.Header.Get("Authorization") != "") {
				t.Errorf("secret in the form: %v", inForm)
			}
		})
	}
}

func TestConfiguredClient_RefusalKeepsRegistration(t *testing.T) {
	t.Parallel()
	c := newConfiguredConnection(t, oauthtest.Behaviour{})
	must(t, c.Door().Connectors().SetClientSecret(t.Context(), c.connector, "a wrong one"))
	_, err := c.newResolver().Headers(t.Context(), c.Tenant, c.connector, credentials.Account{})
	wantMissing(t, err)
	if got := fault.As(err).Message; !strings.Contains(got, "rejects the connector's client. Check its ID and secret") {
		t.Errorf("message %q", got)
	}
	if s, err := c.St.Vault(c.Tenant).ClientSecret(t.Context(), c.connector, c.as.Issuer); err != nil || s.Reveal() != "a wrong one" {
		t.Errorf("the secret: %v", err)
	}
}

func TestConfiguredClient_SecretStaysWithItsServer(t *testing.T) {
	t.Parallel()
	c := newConfiguredConnection(t, oauthtest.Behaviour{})
	must(t, c.Door().Connectors().SetClientSecret(t.Context(), c.connector, "entered again"))
	_, err := c.St.Vault(c.Tenant).ClientSecret(t.Context(), c.connector, "https://elsewhere.example.com")
	must(t, err)
	_, err = c.newResolver().Headers(t.Context(), c.Tenant, c.connector, credentials.Account{})
	wantNotRenewed(t, err)
	if got := fault.As(err).Message; !strings.Contains(got, "The client secret is for the authorization server https://elsewhere.example.com") {
		t.Errorf("message %q", got)
	}
	if n := c.as.Count(oauthtest.Refresh); n != 0 {
		t.Errorf("%d refreshes", n)
	}
}

func TestConfiguredClient_OtherClientEndsGrant(t *testing.T) {
	t.Parallel()
	c := newConfiguredConnection(t, oauthtest.Behaviour{})
	c.connector.OAuth.ClientID = "another"
	_, err := c.newResolver().Headers(t.Context(), c.Tenant, c.connector, credentials.Account{})
	wantMissing(t, err)
	if n := c.as.Count(oauthtest.Refresh); n != 0 {
		t.Errorf("%d refreshes: %v", n, err)
	}
}

func TestRefresh_SendsResource(t *testing.T) {
	t.Parallel()
	c := newConnection(t, oauthtest.Behaviour{NeedResource: true}, time.Now().Add(-time.Minute))
	c.token(t, c.newResolver(), nil)
	form := c.as.Requests(oauthtest.Refresh)[0].Form
	if form.Get("resource") != c.connector.URL || form.Has("scope") {
		t.Errorf("sent %v", form["resource"])
	}
}

func TestRefresh_UnauthorizedClientIsKept(t *testing.T) {
	t.Parallel()
	c := newConnection(t, oauthtest.Behaviour{}, time.Now().Add(-time.Minute))
	c.as.Set(func(b *oauthtest.Behaviour) { b.Token = oauthtest.ForbiddenClient })
	_, err := c.newResolver().Headers(t.Context(), c.Tenant, c.connector, credentials.Account{})
	wantMissing(t, err)
	if got := fault.As(err).Message; !strings.HasSuffix(got, "the authorization server doesn't let our client refresh its token.") {
		t.Errorf("message %q", got)
	}
	if _, err := c.St.Vault(c.Tenant).Registration(t.Context(), c.as.Issuer, redirectURI); err != nil {
		t.Errorf("the registration: %v", err)
	}
}
