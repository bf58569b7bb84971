package connectors_test

import (
	"testing"

	"patchbay/internal/connectors"
)

func TestTokenExchange_SettingsAreChecked(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		change func(*connectors.Draft)
		at     string // location of the refusal; empty: none
	}{
		"an actor token":         {change: func(*connectors.Draft) {}},
		"the claim act":          {change: func(d *connectors.Draft) { d.OAuth.TokenExchange = connectors.ExchangeActClaim }},
		"another way":            {change: func(d *connectors.Draft) { d.OAuth.TokenExchange = "impersonation" }, at: "auth.token_exchange"},
		"one credential":         {change: func(d *connectors.Draft) { d.CredentialMode = connectors.CredentialShared }, at: "auth.token_exchange"},
		"no issuer":              {change: func(d *connectors.Draft) { d.OAuth.Issuer = "" }, at: "auth.issuer"},
		"a token endpoint":       {change: func(d *connectors.Draft) { d.OAuth.TokenEndpoint = "https://as.example/token" }, at: "auth.token_exchange"},
		"a resource":             {change: func(d *connectors.Draft) { d.OAuth.Resource = new("https://other.example/mcp") }, at: "auth.token_exchange"},
		"no resource":            {change: func(d *connectors.Draft) { d.OAuth.Resource = new("") }, at: "auth.token_exchange"},
		"another way to sign in": {change: func(d *connectors.Draft) { d.Auth.Type = connectors.AuthClientCredentials }, at: "auth.token_exchange"},
	} {
		d := connectors.NewDraft()
		d.Name, d.URL, d.CredentialMode, d.Auth.Type = "Billing", "https://mcp.example/mcp", connectors.CredentialPerAgent, connectors.AuthOAuth2
		d.OAuth = connectors.OAuthSettings{ClientID: "patchbay", Issuer: "https://as.example", TokenExchange: connectors.ExchangeActorToken}
		tc.change(&d)
		found := ""
		for _, f := range d.Normalized().Validate() {
			found += f.Location
		}
		if found != tc.at {
			t.Errorf("%s: refused at %q, want %q", name, found, tc.at)
		}
	}
}
