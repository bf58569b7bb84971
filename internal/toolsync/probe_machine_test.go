package toolsync_test

import (
	"testing"

	"patchbay/internal/connectors"
	"patchbay/internal/credentials"
	"patchbay/internal/mcp/mcptest"
	"patchbay/internal/oauth"
	"patchbay/internal/oauth/oauthtest"
	"patchbay/internal/safehttp"
	"patchbay/internal/store"
	"patchbay/internal/toolsync"
)

func TestProbe_StoredMachineSecretGoesOnlyToItsServer(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	egress := safehttp.New(safehttp.Options{Mode: safehttp.Local})
	tester := toolsync.New(toolsync.Options{
		Store: b.St, Egress: egress, Version: "test", Credentials: credentials.NewRefreshing(credentials.Options{
			Store: b.St, OAuth: &oauth.Client{HTTP: egress.Client(), CheckURL: egress.CheckURL},
		}),
	})
	as, other := oauthtest.Start(t, oauthtest.Behaviour{}), oauthtest.Start(t, oauthtest.Behaviour{})
	as.AddClient("client-1", "s3cret", nil)
	server := as.Protect(t, oauthtest.ResourceBehaviour{Next: newUpstream(t, mcptest.Script{Tools: mcptest.Tools(1)})})
	c := b.addConnector(t, server.URL, func(d *connectors.Draft) {
		d.Auth.Type = connectors.AuthClientCredentials
		d.OAuth = connectors.OAuthSettings{ClientID: "client-1", Issuer: as.Issuer}
	})
	sealed, err := connectors.Secret{ClientSecret: "s3cret"}.Encode()
	if err != nil {
		t.Fatal(err)
	}
	err = b.Door().Connectors().SetCredential(t.Context(), store.NewCredential{
		ConnectorID: c.ID, Type: c.Auth.Type, Origin: connectors.Origin(c.URL), Secret: sealed,
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		change func(*connectors.OAuthSettings)
		asks   bool
	}{
		"other scopes":           {func(o *connectors.OAuthSettings) { o.Scopes = []string{"read"} }, true},
		"another token endpoint": {func(o *connectors.OAuthSettings) { o.TokenEndpoint = other.Issuer + "/token" }, false},
		"another issuer":         {func(o *connectors.OAuthSettings) { o.Issuer = other.Issuer }, false},
		"another client id":      {func(o *connectors.OAuthSettings) { o.ClientID = "client-2" }, false},
	} {
		d := connectors.DraftOf(c)
		tc.change(&d.OAuth)
		before := as.Count(oauthtest.ClientCredentials)
		rep, err := tester.ProbeStored(t.Context(), b.Tenant, nil, connectors.Ref(c.Slug), d, connectors.Secret{})
		if err != nil || rep.OK != tc.asks || (as.Count(oauthtest.ClientCredentials) > before) != tc.asks {
			t.Errorf("%s: %+v, %v", name, rep, err)
		}
	}
	if n := other.Count(oauthtest.ClientCredentials); n != 0 {
		t.Errorf("the secret went to another server %d times", n)
	}
}
