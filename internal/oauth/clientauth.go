package oauth

import (
	"encoding/base64"
	"net/http"
	"net/url"
	"slices"
)

// AuthMethod is a client authentication method (RFC 7591 section 2, token_endpoint_auth_method).
type AuthMethod string

// The methods.
const (
	AuthNone          AuthMethod = "none"
	AuthBasic         AuthMethod = "client_secret_basic"
	AuthPost          AuthMethod = "client_secret_post"
	AuthPrivateKeyJWT AuthMethod = "private_key_jwt"
)

func (m AuthMethod) isKnown() bool {
	return m == AuthNone || m == AuthBasic || m == AuthPost || m == AuthPrivateKeyJWT
}

// supportsMethod reports whether a server lists a method. A server that lists none supports client_secret_basic
// (RFC 8414 section 2).
func (m Metadata) supportsMethod(method AuthMethod) bool {
	if len(m.TokenEndpointAuthMethods) == 0 {
		return method == AuthBasic
	}
	return slices.Contains(m.TokenEndpointAuthMethods, string(method))
}

// authMethod returns the method to use: the admin's, else the registered one, else one that the client has and
// the server supports.
func (m Metadata) authMethod(r Registration) AuthMethod {
	switch {
	case m.PinnedAuthMethod != "":
		return m.PinnedAuthMethod
	case r.Method.isKnown():
		return r.Method
	case r.Key != nil:
		return AuthPrivateKeyJWT
	case r.ClientSecret == "":
		return AuthNone
	case m.supportsMethod(AuthBasic):
		return AuthBasic
	case m.supportsMethod(AuthPost):
		return AuthPost
	case m.supportsMethod(AuthNone):
		return AuthNone
	}
	return AuthBasic
}

// addClientAuth adds the client authentication to a request.
func (c *Client) addClientAuth(step Step, p Peer, form url.Values, header http.Header) *Error {
	r := p.Client
	if r.ClientID == "" {
		return &Error{Step: step, Kind: KindNeedsClientID, Detail: "there is no client id"}
	}
	if r.Issuer != "" && r.Issuer != p.Server.Issuer {
		return newRefusal(step, "the client belongs to %s, and the request would go to %s",
			c.shownURL(r.Issuer), c.shownURL(p.Server.Issuer))
	}
	if err := p.Server.checkClientOrigin(step, r); err != nil {
		return err
	}
	method := p.Server.authMethod(r)
	if r.ClientSecret == "" && (method == AuthBasic || method == AuthPost) || r.Key == nil && method == AuthPrivateKeyJWT {
		return &Error{Step: step, Kind: KindClient, Detail: "the client has nothing to prove itself by " + string(method) + " with"}
	}
	switch method {
	case AuthBasic:
		// Both halves are form-encoded first (RFC 6749 §2.3.1): a secret may hold a colon.
		pair := url.QueryEscape(r.ClientID) + ":" + url.QueryEscape(r.ClientSecret.Reveal())
		header.Set("Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(pair)))
		return nil
	case AuthPost:
		form.Set("client_secret", r.ClientSecret.Reveal())
	case AuthPrivateKeyJWT:
		assertion, err := r.Key.signAssertion(r.ClientID, p.Server.assertionAudience(), c.currentTime())
		if err != nil {
			return &Error{Step: step, Kind: KindClient, Detail: "the private key cannot sign", Err: err}
		}
		form.Set("client_assertion_type", "urn:ietf:params:oauth:client-assertion-type:jwt-bearer")
		form.Set("client_assertion", assertion)
	}
	form.Set("client_id", r.ClientID)
	return nil
}

// assertionAudience returns the audience of an assertion: the issuer, so that no other server can use it.
// Without metadata the issuer is a guess, and RFC 7523 section 3 allows the token endpoint.
func (m Metadata) assertionAudience() string {
	if m.Assumed {
		return m.TokenEndpoint
	}
	return m.Issuer
}
