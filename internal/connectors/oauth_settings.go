package connectors

import (
	"maps"
	"net/url"
	"reflect"
	"slices"
	"strings"
)

// OAuthSettings are what an admin sets in place of what an authorization server says of itself, and what a machine's sign-in
// needs besides its secret. The zero value leaves everything to be discovered and registered. The JSON names are stored: they
// never change.
type OAuthSettings struct {
	ClientID                 string   `json:"client_id,omitempty"`
	Scopes                   []string `json:"scopes,omitempty"`
	Issuer                   string   `json:"issuer,omitempty"`
	AuthorizationEndpoint    string   `json:"authorization_endpoint,omitempty"`
	TokenEndpoint            string   `json:"token_endpoint,omitempty"`
	Resource                 *string  `json:"resource,omitempty"` // nil: as published; "": none is sent
	TokenEndpointAuthMethod  string   `json:"token_endpoint_auth_method,omitempty"`
	AllowMissingPKCEMetadata bool     `json:"allow_missing_pkce_metadata,omitempty"`
	Algorithm                string   `json:"algorithm,omitempty"` // of private_key_jwt; empty: the usual one for the key
}

// Bounds of what an admin sets.
const (
	MaxClientID = 2048 // bytes; a client id may be a URL
	MaxScopes   = 100
	maxScope    = 256 // bytes
)

// KeyAlgorithms are the JWS names that a private key may sign with (RFC 7518 §3.1).
var KeyAlgorithms = []string{"RS256", "RS384", "RS512", "ES256", "ES384", "ES512"}

// TokenAuthMethods are the ways in which a client may be told to prove itself (RFC 7591 §2).
var TokenAuthMethods = []string{"none", "client_secret_basic", "client_secret_post"}

// IsZero tells whether nothing is set.
func (s OAuthSettings) IsZero() bool { return s.Equal(OAuthSettings{}) }

// Equal tells whether both say the same.
func (s OAuthSettings) Equal(t OAuthSettings) bool {
	if len(s.Scopes) == 0 && len(t.Scopes) == 0 {
		s.Scopes, t.Scopes = nil, nil
	}
	return reflect.DeepEqual(s, t)
}

// OverridesServer tells whether an admin says who the authorization server is, or where its endpoints are.
func (s OAuthSettings) OverridesServer() bool {
	return s.Issuer != "" || s.AuthorizationEndpoint != "" || s.TokenEndpoint != ""
}

// SameKeeper tells whether a client proves itself to the same authorization server by both. What it proves itself with is sent to no
// other one.
func (s OAuthSettings) SameKeeper(t OAuthSettings) bool {
	return s.Issuer == t.Issuer && s.TokenEndpoint == t.TokenEndpoint
}

func (s OAuthSettings) normalized() OAuthSettings {
	for _, text := range []*string{&s.ClientID, &s.Issuer, &s.AuthorizationEndpoint, &s.TokenEndpoint, &s.TokenEndpointAuthMethod, &s.Algorithm} {
		*text = strings.TrimSpace(*text)
	}
	if s.Resource != nil {
		resource := strings.TrimSpace(*s.Resource)
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

// oauthFields tells for which auth types each setting counts.
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
}

// For keeps the settings that count for an auth type. A form has fields for all of them.
func (s OAuthSettings) For(t AuthType) OAuthSettings {
	switch t {
	case AuthOAuth2:
		s.Algorithm = ""
	case AuthClientCredentials:
		s.AuthorizationEndpoint, s.AllowMissingPKCEMetadata, s.Algorithm = "", false, ""
	case AuthPrivateKeyJWT:
		s.AuthorizationEndpoint, s.AllowMissingPKCEMetadata, s.TokenEndpointAuthMethod = "", false, ""
	default:
		return OAuthSettings{}
	}
	return s
}

// oauth checks the settings that go with signing in by OAuth. Whether an address may be reached is not for this package to say.
func (c *check) oauth(d Draft) {
	s, t := d.OAuth, d.Auth.Type
	for _, f := range oauthFields {
		if f.set(s) && !slices.Contains(f.of, t) {
			c.refuse("auth."+f.name, "Authentication %q takes no %s.", t, f.name)
		}
	}
	machine := t == AuthClientCredentials || t == AuthPrivateKeyJWT
	switch {
	case machine && d.CredentialMode != CredentialPerAgent && s.ClientID == "":
		c.refuse("auth.client_id", "A client id is needed.")
	case len(s.ClientID) > MaxClientID || !visibleASCII(s.ClientID):
		c.refuse("auth.client_id", "A client id has at most %d visible ASCII characters.", MaxClientID)
	}
	c.scopes(s.Scopes)
	c.address("auth.issuer", s.Issuer)
	c.address("auth.authorization_endpoint", s.AuthorizationEndpoint)
	c.address("auth.token_endpoint", s.TokenEndpoint)
	if s.Resource != nil && *s.Resource != "" {
		c.address("auth.resource", *s.Resource)
	}
	if s.TokenEndpointAuthMethod != "" {
		oneOf(c, "auth.token_endpoint_auth_method", s.TokenEndpointAuthMethod, TokenAuthMethods...)
	}
	if s.Algorithm != "" {
		oneOf(c, "auth.algorithm", s.Algorithm, KeyAlgorithms...)
	}
}

func (c *check) scopes(scopes []string) {
	if len(scopes) > MaxScopes {
		c.refuse("auth.scopes", "There are at most %d scopes.", MaxScopes)
	}
	for _, scope := range scopes {
		if len(scope) > maxScope || strings.ContainsFunc(scope, notInScope) {
			c.refuse("auth.scopes", "A scope has at most %d visible ASCII characters, and no space, quote or backslash.", maxScope)
			return
		}
	}
}

// notInScope tells what no scope holds (RFC 6749 §3.3).
func notInScope(r rune) bool { return r <= ' ' || r > '~' || r == '"' || r == '\\' }

// address refuses what is no absolute http address; empty is none.
func (c *check) address(location, raw string) {
	if raw == "" {
		return
	}
	u, err := url.Parse(raw)
	switch {
	case err != nil, !visibleASCII(raw), strings.ContainsAny(raw, ` \`), len(raw) > maxAddress:
		c.refuse(location, "This is not an address.")
	case u.Scheme != "https" && u.Scheme != "http" || u.Hostname() == "":
		c.refuse(location, "An address begins with https:// and has a host.")
	case u.User != nil || u.Fragment != "" || strings.Contains(raw, "#"):
		c.refuse(location, "An address holds no user name, password or fragment.")
	}
}

// maxAddress is the length of an address that an admin enters, in bytes.
const maxAddress = 2048

// Addresses are the addresses among the settings that somebody would be sent to, by the field of each.
func (s OAuthSettings) Addresses() map[string]string {
	all := map[string]string{
		"auth.issuer": s.Issuer, "auth.authorization_endpoint": s.AuthorizationEndpoint, "auth.token_endpoint": s.TokenEndpoint,
	}
	maps.DeleteFunc(all, func(_, address string) bool { return address == "" })
	return all
}
