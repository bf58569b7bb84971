package admin

import (
	"context"
	"strings"

	"patchbay/internal/connectors"
	"patchbay/internal/words"
)

// oauthValues are the fields of the form that describe s.
func oauthValues(s connectors.OAuthSettings) map[string]string {
	values := map[string]string{
		"auth.client_id":                  s.ClientID,
		"auth.scopes":                     strings.Join(s.Scopes, " "),
		"auth.issuer":                     s.Issuer,
		"auth.authorization_endpoint":     s.AuthorizationEndpoint,
		"auth.token_endpoint":             s.TokenEndpoint,
		"auth.token_endpoint_auth_method": s.TokenEndpointAuthMethod,
		"auth.algorithm":                  s.Algorithm,
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

// oauth reads the settings of OAuth out of the form, over what they were before.
func (p *draftParser) oauth(ctx context.Context, s connectors.OAuthSettings) connectors.OAuthSettings {
	p.text("auth.client_id", &s.ClientID)
	p.text("auth.issuer", &s.Issuer)
	p.text("auth.authorization_endpoint", &s.AuthorizationEndpoint)
	p.text("auth.token_endpoint", &s.TokenEndpoint)
	p.text("auth.token_endpoint_auth_method", &s.TokenEndpointAuthMethod)
	p.text("auth.algorithm", &s.Algorithm)
	if p.form.values.Has("auth.scopes") {
		s.Scopes = strings.Fields(p.form.text("auth.scopes"))
	}
	p.resource(ctx, &s.Resource)
	// A box that is not ticked sends nothing; the field that stands before it in the form says that it was there.
	if p.form.values.Has("auth.authorization_endpoint") {
		s.AllowMissingPKCEMetadata = p.form.checked("auth.allow_missing_pkce_metadata")
	}
	return s
}

// resource reads which resource to name: the published one, one of the admin's, or none.
func (p *draftParser) resource(ctx context.Context, to **string) {
	if !p.form.values.Has("auth.resource") {
		return
	}
	typed, none := p.form.text("auth.resource"), p.form.checked("auth.no_resource")
	switch {
	case typed != "" && none:
		p.refuse("auth.resource", words.T(ctx, "Give a resource, or send none."))
	case typed != "" || none:
		*to = &typed
	default:
		*to = nil
	}
}
