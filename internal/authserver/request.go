package authserver

import (
	"context"
	"encoding/base64"
	"net/url"
	"slices"
	"strings"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
)

// maxState bounds what a program may have carried through a sign-in.
const maxState = 1500

// Request is what a program asks a person for.
type Request struct {
	Client      Client
	RedirectURI string
	Resource    string // the path at the gateway

	Scopes []connectors.ClientScope // among which the person chooses; nil: it is to be an agent

	state     string
	challenge []byte
}

// Place says where the answer goes.
func (r Request) Place() Place { return placeOf(r.RedirectURI) }

// Request reads what a program asks for, when a person is there. What is wrong with it is for the person to read: nobody is sent to an address
// that the request names before a person has said so.
func (s *Server) Request(ctx context.Context, q url.Values) (Request, error) {
	for _, values := range q {
		if len(values) > 1 {
			return Request{}, fault.Errorf(fault.Invalid, "The program that sent you here says something twice. Nothing was allowed.")
		}
	}
	c, err := s.client(ctx, q.Get("client_id"))
	if err != nil {
		return Request{}, err
	}
	r := Request{Client: c, RedirectURI: q.Get("redirect_uri"), state: q.Get("state")}
	if !c.registered(r.RedirectURI) {
		return Request{}, fault.Errorf(fault.Invalid, "The program that sent you here wants its answer at an address that is not one of its own. Nothing was allowed.")
	}
	switch {
	case q.Get("response_type") != "code":
		return Request{}, fault.Errorf(fault.Invalid, "The program that sent you here asks for something else than a code. Nothing was allowed.")
	case q.Has("request") || q.Has("request_uri") || q.Get("response_mode") != "" && q.Get("response_mode") != "query":
		return Request{}, fault.Errorf(fault.Invalid, "The program that sent you here asks in a way that Patchbay does not know. Nothing was allowed.")
	case len(r.state) > maxState:
		return Request{}, fault.Errorf(fault.Invalid, "The program that sent you here says more than Patchbay carries along. Nothing was allowed.")
	case q.Get("code_challenge") == "" || q.Get("code_challenge_method") != "S256":
		return Request{}, noPKCE()
	}
	if r.challenge, err = base64.RawURLEncoding.Strict().DecodeString(q.Get("code_challenge")); err != nil || len(r.challenge) != 32 {
		return Request{}, noPKCE()
	}
	var ok bool
	if r.Resource, ok = s.resource(q.Get("resource")); !ok {
		return Request{}, fault.Errorf(fault.Invalid, "The program that sent you here asks for something that is not at this gateway. Nothing was allowed.")
	}
	if r.Resource == adminPath {
		r.Scopes = scopesOf(q.Get("scope"))
	}
	return r, nil
}

// scopesOf are those that a person is asked about, of what a program wants of them. The least is first.
func scopesOf(wanted string) []connectors.ClientScope {
	if said := strings.Fields(wanted); slices.Contains(said, string(connectors.ScopeAdminRead)) && !slices.Contains(said, string(connectors.ScopeAdmin)) {
		return []connectors.ClientScope{connectors.ScopeAdminRead}
	}
	return []connectors.ClientScope{connectors.ScopeAdminRead, connectors.ScopeAdmin}
}

// AsMember tells whether the program is to act as the person, and not as an agent.
func (r Request) AsMember() bool { return r.Resource == adminPath }

func noPKCE() error {
	return fault.Errorf(fault.Invalid, "The program that sent you here does not protect its sign-in by PKCE with S256. Nothing was allowed.")
}

// resource reads which address of the gateway a request is about (RFC 8707 §2), as its path. Programs of before that RFC say none: the one
// with all connectors is meant.
func (s *Server) resource(raw string) (path string, ok bool) {
	if raw == "" {
		return gatewayPath, true
	}
	rest, ok := strings.CutPrefix(raw, s.issuer+gatewayPath)
	rest = strings.TrimSuffix(rest, "/")
	if !ok || rest == "" {
		return gatewayPath, ok
	}
	if rest[0] != '/' || !connectors.ValidSlug(rest[1:]) {
		return "", false
	}
	return gatewayPath + rest, true
}
