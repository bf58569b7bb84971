package toolsync_test

import (
	"testing"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/credentials"
	"patchbay/internal/mcp/mcptest"
	"patchbay/internal/oauth"
	"patchbay/internal/store"
)

// A token from token exchange is for one URL, so a test sends it to no other one of the same origin.
func TestProbe_ExchangedTokenGoesOnlyToItsURL(t *testing.T) {
	t.Parallel()
	b := newBundle(t, func(b *bundle) *credentials.Resolver {
		return credentials.NewRefreshing(credentials.Options{Store: b.St, OAuth: &oauth.Client{}})
	})
	up := newUpstream(t, mcptest.Script{Tools: mcptest.Tools(1), Bearer: "s3cret"})
	must(t, b.Door().Accounts().SetTokenExchange(t.Context(), true))
	agent := b.Agent(t)
	c := b.addConnector(t, up.URL, func(d *connectors.Draft) {
		d.Auth.Type, d.CredentialMode = connectors.AuthOAuth2, connectors.CredentialPerAgent
		d.OAuth = connectors.OAuthSettings{ClientID: "patchbay", Issuer: "https://login.example.com", TokenExchange: connectors.ExchangeActClaim}
	})
	must(t, b.Door().Accounts().SaveGrant(t.Context(), store.NewGrant{
		ConnectorID: c.ID, AgentID: &agent.ID, Origin: c.CredentialOrigin(),
		GrantTokens: store.GrantTokens{
			AccessToken: "s3cret", ExpiresAt: new(time.Now().Add(time.Hour)), Meta: store.GrantMeta{Exchange: c.OAuth.TokenExchange, Refreshable: true},
		},
	}))
	for _, tc := range []struct {
		change func(*connectors.Draft)
		sent   bool
	}{
		{func(d *connectors.Draft) { d.Description = "changed" }, true},
		{func(d *connectors.Draft) { d.URL += "/other" }, false},
		{func(d *connectors.Draft) { d.OAuth.Scopes = []string{"other"} }, false},
	} {
		d := connectors.DraftOf(c)
		tc.change(&d)
		rep, err := b.sync.ProbeStored(t.Context(), b.Tenant, nil, connectors.Ref(c.Slug), d, connectors.Secret{})
		must(t, err)
		if rep.OK != tc.sent {
			t.Errorf("%s %v: %+v", d.URL, d.OAuth.Scopes, rep)
		}
	}
	wantSent(t, up, "", "Bearer s3cret", "", "")
}
