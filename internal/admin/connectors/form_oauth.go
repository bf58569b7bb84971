package connectors

import (
	"context"
	"strings"

	"patchbay/internal/connectors"
	"patchbay/internal/i18n"
)

func oauthValues(s connectors.OAuthSettings) map[string]string {
	values := map[string]string{
		"auth.client_id":                  s.ClientID,
		"auth.scopes":                     strings.Join(s.Scopes, " "),
		"auth.issuer":                     s.Issuer,
		"auth.authorization_endpoint":     s.AuthorizationEndpoint,
		"auth.token_endpoint":             s.TokenEndpoint,
		"auth.token_endpoint_auth_method": s.TokenEndpointAuthMethod,
		"auth.algorithm":                  s.Algorithm,
		"auth.token_exchange":             string(s.TokenExchange),
		"auth.resource":                   "",
	}
	if s.Resource != nil {
		values["auth.resource"] = *s.Resource
	}
	if s.Resource != nil && *s.Resource == "" {
		values["auth.no_resource"] = "true"
	}
	if s.AllowMissingPKCEMetadata {
		values["auth.allow_missing_pkce_metadata"] = "true"
	}
	return values
}

// readOAuth reads the OAuth settings. A missing field keeps its value.
func (p *DraftParser) readOAuth(ctx context.Context, s connectors.OAuthSettings) connectors.OAuthSettings {
	p.readText("auth.client_id", &s.ClientID)
	p.readText("auth.issuer", &s.Issuer)
	p.readText("auth.authorization_endpoint", &s.AuthorizationEndpoint)
	p.readText("auth.token_endpoint", &s.TokenEndpoint)
	p.readText("auth.token_endpoint_auth_method", &s.TokenEndpointAuthMethod)
	p.readText("auth.algorithm", &s.Algorithm)
	p.readText("auth.token_exchange", (*string)(&s.TokenExchange))
	if p.Form.Values.Has("auth.scopes") {
		s.Scopes = strings.Fields(p.Form.Text("auth.scopes"))
	}
	p.readResource(ctx, &s.Resource)
	// An unticked checkbox sends nothing. The field before it shows that the form had the checkbox.
	if p.Form.Values.Has("auth.authorization_endpoint") {
		s.AllowMissingPKCEMetadata = p.Form.Checked("auth.allow_missing_pkce_metadata")
	}
	return s
}

// readResource reads the resource parameter: the published one, a given one, or none.
func (p *DraftParser) readResource(ctx context.Context, to **string) {
	if !p.Form.Values.Has("auth.resource") {
		return
	}
	typed, none := p.Form.Text("auth.resource"), p.Form.Checked("auth.no_resource")
	switch {
	case typed != "" && none:
		p.addProblem("auth.resource", i18n.T(ctx, "Enter a resource or send none."))
	case typed != "" || none:
		*to = &typed
	default:
		*to = nil
	}
}
