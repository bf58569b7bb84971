package connectors

import (
	"maps"
	"net/url"
	"reflect"
	"slices"
	"strings"
)

// OAuthSettings override an authorization server's metadata and configure a machine's sign-in, without its
// secret. The zero value means discovery and registration. The JSON names are stored and never change.
type OAuthSettings struct {
	ClientID                 string   `json:"client_id,omitempty"`
	Scopes                   []string `json:"scopes,omitempty"`
	Issuer                   string   `json:"issuer,omitempty"`
	AuthorizationEndpoint    string   `json:"authorization_endpoint,omitempty"`
	TokenEndpoint            string   `json:"token_endpoint,omitempty"`
	Resource                 *string  `json:"resource,omitempty"` // nil: as published; "": not sent
	TokenEndpointAuthMethod  string   `json:"token_endpoint_auth_method,omitempty"`
	AllowMissingPKCEMetadata bool     `json:"allow_missing_pkce_metadata,omitempty"`
	Algorithm                string   `json:"algorithm,omitempty"` // of private_key_jwt; empty: the key's usual one

	TokenExchange TokenExchange `json:"token_exchange,omitempty"`
}

// Bounds of what an admin sets.
const (
	MaxClientID = 2048 // bytes; a client id may be a URL
	MaxScopes   = 100
	maxScope    = 256 // bytes
)

// KeyAlgorithms are the JWS algorithms of a private key (RFC 7518 section 3.1).
var KeyAlgorithms = []string{"RS256", "RS384", "RS512", "ES256", "ES384", "ES512"}

// TokenAuthMethods are the configurable client authentication methods (RFC 7591 section 2).
var TokenAuthMethods = []string{"none", "client_secret_basic", "client_secret_post"}

// IsZero reports whether nothing is set.
func (s OAuthSettings) IsZero() bool { return s.Equal(OAuthSettings{}) }

// Equal reports whether both say the same.
func (s OAuthSettings) Equal(t OAuthSettings) bool {
	if len(s.Scopes) == 0 && len(t.Scopes) == 0 {
		s.Scopes, t.Scopes = nil, nil
	}
	return reflect.DeepEqual(s, t)
}

// OverridesServer reports whether the issuer or its endpoints are set.
func (s OAuthSettings) OverridesServer() bool {
	return s.Issuer != "" || s.AuthorizationEndpoint != "" || s.TokenEndpoint != ""
}

// SameAuthServer reports whether both authenticate a client at the same authorization server. Client secrets
// are sent to no other one.
func (s OAuthSettings) SameAuthServer(t OAuthSettings) bool {
	return s.Issuer == t.Issuer && s.TokenEndpoint == t.TokenEndpoint
}

// normalized trims white space, writes internationalised hosts in xn-- form, and drops duplicate scopes. A client
// id stays as entered: an authorization server compares its characters.
func (s OAuthSettings) normalized() OAuthSettings {
	for _, text := range []*string{&s.ClientID, &s.TokenEndpointAuthMethod, &s.Algorithm, (*string)(&s.TokenExchange)} {
		*text = strings.TrimSpace(*text)
	}
	for _, address := range []*string{&s.Issuer, &s.AuthorizationEndpoint, &s.TokenEndpoint} {
		*address, _ = ASCIIURL(strings.TrimSpace(*address))
	}
	if s.Resource != nil {
		resource, _ := ASCIIURL(strings.TrimSpace(*s.Resource))
		s.Resource = &resource
	}
	var scopes []string
	for _, scope := range s.Scopes {
		if scope = strings.TrimSpace(scope); scope != "" && !slices.Contains(scopes, scope) {
			scopes = append(scopes, scope)
		}
	}
	s.Scopes = scopes
	return s
}

// oauthFields are the settings with the auth types that they apply to.
var oauthFields = []struct {
	name string
	of   []AuthType
	set  func(OAuthSettings) bool
}{
	{"client_id", []AuthType{AuthOAuth2, AuthClientCredentials, AuthPrivateKeyJWT}, func(s OAuthSettings) bool { return s.ClientID != "" }},
	{"scopes", []AuthType{AuthOAuth2, AuthClientCredentials, AuthPrivateKeyJWT}, func(s OAuthSettings) bool { return len(s.Scopes) > 0 }},
	{"issuer", []AuthType{AuthOAuth2, AuthClientCredentials, AuthPrivateKeyJWT}, func(s OAuthSettings) bool { return s.Issuer != "" }},
	{"token_endpoint", []AuthType{AuthOAuth2, AuthClientCredentials, AuthPrivateKeyJWT}, func(s OAuthSettings) bool { return s.TokenEndpoint != "" }},
	{"resource", []AuthType{AuthOAuth2, AuthClientCredentials, AuthPrivateKeyJWT}, func(s OAuthSettings) bool { return s.Resource != nil }},
	{"token_endpoint_auth_method", []AuthType{AuthOAuth2, AuthClientCredentials}, func(s OAuthSettings) bool { return s.TokenEndpointAuthMethod != "" }},
	{"authorization_endpoint", []AuthType{AuthOAuth2}, func(s OAuthSettings) bool { return s.AuthorizationEndpoint != "" }},
	{"allow_missing_pkce_metadata", []AuthType{AuthOAuth2}, func(s OAuthSettings) bool { return s.AllowMissingPKCEMetadata }},
	{"algorithm", []AuthType{AuthPrivateKeyJWT}, func(s OAuthSettings) bool { return s.Algorithm != "" }},
	{"token_exchange", []AuthType{AuthOAuth2}, func(s OAuthSettings) bool { return s.TokenExchange != "" }},
}

// For returns the settings that apply to an auth type. A form has fields for all.
func (s OAuthSettings) For(t AuthType) OAuthSettings {
	switch t {
	case AuthOAuth2:
		s.Algorithm = ""
	case AuthClientCredentials:
		s.AuthorizationEndpoint, s.AllowMissingPKCEMetadata, s.Algorithm, s.TokenExchange = "", false, "", ""
	case AuthPrivateKeyJWT:
		s.AuthorizationEndpoint, s.AllowMissingPKCEMetadata, s.TokenEndpointAuthMethod, s.TokenExchange = "", false, "", ""
	default:
		return OAuthSettings{}
	}
	return s
}

// checkOAuth checks the OAuth settings. Egress rules are applied elsewhere.
func (c *validation) checkOAuth(d Draft) {
	s, t := d.OAuth, d.Auth.Type
	for _, f := range oauthFields {
		if f.set(s) && !slices.Contains(f.of, t) {
			c.addField("auth."+f.name, "Authentication %q takes no %s.", t, f.name)
		}
	}
	machine := t == AuthClientCredentials || t == AuthPrivateKeyJWT
	switch {
	case machine && d.CredentialMode != CredentialPerAgent && s.ClientID == "":
		c.addField("auth.client_id", "Enter a client ID.")
	case len(s.ClientID) > MaxClientID || !isVisibleASCII(s.ClientID):
		c.addField("auth.client_id", "At most %d visible ASCII characters.", MaxClientID)
	}
	c.scopes(s.Scopes)
	c.checkAddress("auth.issuer", s.Issuer)
	c.checkAddress("auth.authorization_endpoint", s.AuthorizationEndpoint)
	c.checkAddress("auth.token_endpoint", s.TokenEndpoint)
	if s.Resource != nil && *s.Resource != "" {
		c.checkAddress("auth.resource", *s.Resource)
	}
	if s.TokenEndpointAuthMethod != "" {
		checkOneOf(c, "auth.token_endpoint_auth_method", s.TokenEndpointAuthMethod, TokenAuthMethods...)
	}
	if s.Algorithm != "" {
		checkOneOf(c, "auth.algorithm", s.Algorithm, KeyAlgorithms...)
	}
	if s.TokenExchange != "" && t == AuthOAuth2 {
		c.checkTokenExchange(d)
	}
}

func (c *validation) scopes(scopes []string) {
	if len(scopes) > MaxScopes {
		c.addField("auth.scopes", "At most %d scopes.", MaxScopes)
	}
	for _, scope := range scopes {
		if len(scope) > maxScope || strings.ContainsFunc(scope, isNotScopeChar) {
			c.addField("auth.scopes", "At most %d visible ASCII characters, without space, quote or backslash.", maxScope)
			return
		}
	}
}

// isNotScopeChar reports whether a scope must not contain r (RFC 6749 section 3.3).
func isNotScopeChar(r rune) bool { return r <= ' ' || r > '~' || r == '"' || r == '\\' }

// checkAddress refuses anything but an absolute http URL or "".
func (c *validation) checkAddress(location, raw string) {
	if raw == "" {
		return
	}
	u, err := url.Parse(raw)
	switch {
	case err == nil && (!isASCII(u.Hostname()) || !isValidPunycode(u.Hostname())):
		c.addField(location, invalidHostName)
	case err != nil, !isVisibleASCII(raw), strings.ContainsAny(raw, ` \`), len(raw) > maxAddressBytes:
		c.addField(location, "Not a URL.")
	case u.Scheme != "https" && u.Scheme != "http" || u.Hostname() == "":
		c.addField(location, "Enter an https:// URL with a host.")
	case u.User != nil || u.Fragment != "" || strings.Contains(raw, "#"):
		c.addField(location, "Remove user name, password and fragment.")
	}
}

const maxAddressBytes = 2048

// Addresses returns the addresses that a person may be redirected to, by field.
func (s OAuthSettings) Addresses() map[string]string {
	all := map[string]string{
		"auth.issuer": s.Issuer, "auth.authorization_endpoint": s.AuthorizationEndpoint, "auth.token_endpoint": s.TokenEndpoint,
	}
	maps.DeleteFunc(all, func(_, address string) bool { return address == "" })
	return all
}
