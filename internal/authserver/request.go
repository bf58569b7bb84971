package authserver

import (
	"context"
	"encoding/base64"
	"net/url"
	"slices"
	"strings"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/jws"
)

// maxState bounds the state parameter.
const maxState = 1500

// Request is an authorization request.
type Request struct {
	Client      Client
	RedirectURI string
	Resource    string // path at the gateway

	Scopes []connectors.ClientScope // for the person to choose from; nil: the client is to act as an agent

	key       string // dpop_jkt: the thumbprint of the key that must redeem the code; empty: any
	state     string
	challenge []byte
}

// Place returns the receiver of the response.
func (r Request) Place() RedirectTarget { return toRedirectTarget(r.RedirectURI) }

// Request parses an authorization request for a signed-in person. Errors are shown to the person, never sent to
// the redirect URI, which is untrusted before their consent.
func (s *Server) Request(ctx context.Context, q url.Values) (Request, error) {
	for _, values := range q {
		if len(values) > 1 {
			return Request{}, fault.Errorf(fault.Invalid, "The client's request repeats a parameter. Nothing was allowed.")
		}
	}
	c, err := s.findClient(ctx, q.Get("client_id"))
	if err != nil {
		return Request{}, err
	}
	r := Request{Client: c, RedirectURI: q.Get("redirect_uri"), state: q.Get("state")}
	if !c.hasRedirectURI(r.RedirectURI) {
		return Request{}, fault.Errorf(fault.Invalid, "The client's redirect URI isn't registered. Nothing was allowed.")
	}
	switch {
	case q.Get("response_type") != "code":
		return Request{}, fault.Errorf(fault.Invalid, "The client's response type isn't supported. Nothing was allowed.")
	case q.Has("request") || q.Has("request_uri") || q.Get("response_mode") != "" && q.Get("response_mode") != "query":
		return Request{}, fault.Errorf(fault.Invalid, "The client's request isn't supported. Nothing was allowed.")
	case len(r.state) > maxState:
		return Request{}, fault.Errorf(fault.Invalid, "The client's state is too long. Nothing was allowed.")
	case q.Get("code_challenge") == "" || q.Get("code_challenge_method") != "S256":
		return Request{}, errNoPKCE()
	}
	if r.challenge, err = base64.RawURLEncoding.Strict().DecodeString(q.Get("code_challenge")); err != nil || len(r.challenge) != 32 {
		return Request{}, errNoPKCE()
	}
	if r.key = q.Get("dpop_jkt"); q.Has("dpop_jkt") && !jws.IsThumbprint(r.key) {
		return Request{}, fault.Errorf(fault.Invalid, "The client's dpop_jkt isn't the thumbprint of a key. Nothing was allowed.")
	}
	var ok bool
	if r.Resource, ok = s.parseResource(q.Get("resource")); !ok {
		return Request{}, fault.Errorf(fault.Invalid, "The client requested an unknown resource. Nothing was allowed.")
	}
	if r.Resource == adminPath {
		r.Scopes = parseScopes(q.Get("scope"))
	}
	return r, nil
}

// parseScopes returns the supported ones of the requested scopes, least first.
func parseScopes(wanted string) []connectors.ClientScope {
	if scopes := strings.Fields(wanted); slices.Contains(scopes, string(connectors.ScopeAdminRead)) && !slices.Contains(scopes, string(connectors.ScopeAdmin)) {
		return []connectors.ClientScope{connectors.ScopeAdminRead}
	}
	return []connectors.ClientScope{connectors.ScopeAdminRead, connectors.ScopeAdmin}
}

// AsMember reports whether the client is to act as the person, not as an agent.
func (r Request) AsMember() bool { return r.Resource == adminPath }

func errNoPKCE() error {
	return fault.Errorf(fault.Invalid, "The client doesn't use PKCE with S256. Nothing was allowed.")
}

// parseResource returns the path of a resource parameter (RFC 8707 section 2). Without one it is the path with
// all connectors.
func (s *Server) parseResource(raw string) (path string, ok bool) {
	if raw == "" {
		return gatewayPath, true
	}
	rest, ok := strings.CutPrefix(raw, s.issuer+gatewayPath)
	rest = strings.TrimSuffix(rest, "/")
	if !ok || rest == "" {
		return gatewayPath, ok
	}
	_, ok = connectors.CutViewSlug(rest[1:])
	return gatewayPath + rest, ok && rest[0] == '/'
}
