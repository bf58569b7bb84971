package oauth

import (
	"encoding/base64"
	"maps"
	"net/http"
	"net/url"
	"slices"

	"golang.org/x/oauth2"
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

// clientAuth is the client authentication of one request.
type clientAuth struct {
	style  oauth2.AuthStyle
	secret Secret     // empty: none is sent
	params url.Values // of an assertion; nil: none
}

// newClientAuth refuses a client of another issuer, and a client that lacks the secret or key of its method.
func (c *Client) newClientAuth(step Step, p Peer) (clientAuth, *Error) {
	r := p.Client
	if r.ClientID == "" {
		return clientAuth{}, &Error{Step: step, Kind: KindNeedsClientID, Detail: "there is no client id"}
	}
	if r.Issuer != "" && r.Issuer != p.Server.Issuer {
		return clientAuth{}, newRefusal(step, "the client belongs to %s, and the request would go to %s",
			c.shownURL(r.Issuer), c.shownURL(p.Server.Issuer))
	}
	if err := p.Server.checkClientOrigin(step, r); err != nil {
		return clientAuth{}, err
	}
	method := p.Server.authMethod(r)
	if r.ClientSecret == "" && (method == AuthBasic || method == AuthPost) || r.Key == nil && method == AuthPrivateKeyJWT {
		return clientAuth{}, &Error{Step: step, Kind: KindClient, Detail: "the client has nothing to prove itself by " + string(method) + " with"}
	}
	switch method {
	case AuthBasic:
		return clientAuth{style: oauth2.AuthStyleInHeader, secret: r.ClientSecret}, nil
	case AuthPost:
		return clientAuth{style: oauth2.AuthStyleInParams, secret: r.ClientSecret}, nil
	case AuthPrivateKeyJWT:
		assertion, err := r.Key.signAssertion(r.ClientID, p.Server.assertionAudience(), c.currentTime())
		if err != nil {
			return clientAuth{}, &Error{Step: step, Kind: KindClient, Detail: "the private key cannot sign", Err: err}
		}
		return clientAuth{style: oauth2.AuthStyleInParams, params: url.Values{
			"client_assertion_type": {"urn:ietf:params:oauth:client-assertion-type:jwt-bearer"},
			"client_assertion":      {assertion},
		}}, nil
	default:
		return clientAuth{style: oauth2.AuthStyleInParams}, nil
	}
}

// addTo adds the authentication to a request that x/oauth2 cannot write, as x/oauth2 would.
func (a clientAuth) addTo(req *httpRequest, clientID string) {
	maps.Copy(req.form, a.params)
	if a.style == oauth2.AuthStyleInHeader {
		// Both halves are form-encoded first (RFC 6749 section 2.3.1): a secret may hold a colon.
		pair := url.QueryEscape(clientID) + ":" + url.QueryEscape(a.secret.Reveal())
		req.header = http.Header{"Authorization": {"Basic " + base64.StdEncoding.EncodeToString([]byte(pair))}}
		return
	}
	req.form.Set("client_id", clientID)
	if a.secret != "" {
		req.form.Set("client_secret", a.secret.Reveal())
	}
}

// assertionAudience returns the audience of an assertion: the issuer, so that no other server can use it.
// Without metadata the issuer is a guess, and RFC 7523 section 3 allows the token endpoint.
func (m Metadata) assertionAudience() string {
	if m.Assumed {
		return m.TokenEndpoint
	}
	return m.Issuer
}
