package oauth

import (
	"slices"
	"strings"
)

// ClientDocument describes a client: the body of a registration (RFC 7591 section 2), or our Client ID Metadata
// Document, which is published at ClientID (draft-ietf-oauth-client-id-metadata-document).
type ClientDocument struct {
	ClientID                string     `json:"client_id,omitempty"`
	ClientName              string     `json:"client_name,omitempty"`
	ClientURI               string     `json:"client_uri,omitempty"`
	ApplicationType         string     `json:"application_type"`
	RedirectURIs            []string   `json:"redirect_uris"`
	GrantTypes              []string   `json:"grant_types"`
	ResponseTypes           []string   `json:"response_types"`
	TokenEndpointAuthMethod AuthMethod `json:"token_endpoint_auth_method"`
	Scope                   string     `json:"scope,omitempty"`
}

// NewClientDocument returns the document to publish at documentURL, of a public client.
func NewClientDocument(documentURL, name, clientURI string, redirectURIs ...string) ClientDocument {
	return ClientDocument{
		ClientID: documentURL, ClientName: name, ClientURI: clientURI,
		ApplicationType: "web", RedirectURIs: redirectURIs,
		GrantTypes: []string{"authorization_code", "refresh_token"}, ResponseTypes: []string{"code"},
		TokenEndpointAuthMethod: AuthNone,
	}
}

func registrationDocument(r RegisterRequest) ClientDocument {
	d := NewClientDocument("", r.ClientName, r.ClientURI, r.RedirectURIs...)
	if !r.Server.supportsGrant("refresh_token") {
		d.GrantTypes = slices.Clone(d.GrantTypes[:1])
	}
	d.TokenEndpointAuthMethod = r.Server.registrationMethod()
	d.Scope = strings.Join(r.Scopes, " ")
	return d
}

// registrationMethod returns the method to register for. A secret is preferred: it makes a stolen refresh token
// useless.
func (m Metadata) registrationMethod() AuthMethod {
	if m.PinnedAuthMethod != "" && m.PinnedAuthMethod != AuthPrivateKeyJWT {
		return m.PinnedAuthMethod
	}
	for _, method := range []AuthMethod{AuthBasic, AuthPost, AuthNone} {
		if m.supportsMethod(method) {
			return method
		}
	}
	return AuthBasic
}

// IsDocumentURL reports whether a URL may be a client id: https with a path, in canonical form.
func IsDocumentURL(raw string) bool {
	u, ok := parsePlainURL(raw)
	return ok && u.Scheme == "https" && trimSlash(u.Path) != "" && !hasDots(u.Path) && u.RawQuery == ""
}
