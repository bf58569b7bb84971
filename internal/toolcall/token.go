package toolcall

import (
	"context"
	"errors"
	"net/http"

	"patchbay/internal/connectors"
	"patchbay/internal/credentials"
	"patchbay/internal/fault"
	"patchbay/internal/mcp"
	"patchbay/internal/oauth"
	"patchbay/internal/toolcall/upstream"
)

// The sentences of a refused token, as they are stored with it.
const (
	refusedToken   = "The server does not accept the access any more. Connect again."
	refusedMachine = "The server refuses the access that the authorization server gives. Check what this client is allowed to do, then enter its secret again."
	refusedKey     = "The server refuses the access that the authorization server gives. Check what this client is allowed to do, then enter its key again."
)

// accuse notes what a server says against a token, and tells whether the next one may serve:
//
//	401                   it was renewed already, or cannot be: only a person can mend it
//	insufficient_scope    a machine gets what is missing; a person has to agree
//
// What could not be renewed just now accuses nobody.
func (c *Caller) accuse(ctx context.Context, w upstream.Want, sent *credentials.Usable, err error) (again bool, _ error) {
	failure, ok := errors.AsType[*mcp.Error](err)
	if _, ours := errors.AsType[*fault.Error](err); !ok || ours || sent == nil || sent.Version == 0 || failure.SessionLost() {
		return false, err
	}
	scopes, wanted := scopesWanted(failure)
	var noted error
	switch {
	case failure.HTTPStatus == http.StatusForbidden && wanted:
		noted = c.o.Credentials.NeedsScopes(ctx, w.Tenant, sent, scopes)
		again = isMachine(w.Connector)
	case failure.HTTPStatus == http.StatusUnauthorized && failure.Reason == mcp.ReasonUnauthorized:
		noted = c.o.Credentials.Refused(ctx, w.Tenant, sent, because(w.Connector))
	default:
		return false, err
	}
	c.pool.Forget(w.Tenant, w.Connector.ID)
	switch {
	case noted != nil:
		return false, errors.Join(noted, err)
	case again:
		return true, err
	default:
		return false, errors.Join(c.o.Credentials.WhyMissing(ctx, w.Tenant, w.Connector, w.Agent), err)
	}
}

// scopesWanted are the scopes that the server misses (RFC 6750 §3.1).
func scopesWanted(e *mcp.Error) (scopes []string, wanted bool) {
	for _, c := range e.Challenges {
		if c.Scheme == "bearer" && c.Params["error"] == "insufficient_scope" {
			return oauth.ParseScopes(c.Params["scope"]), true
		}
	}
	return nil, false
}

func isMachine(c connectors.Connector) bool {
	return c.Auth.Type == connectors.AuthClientCredentials || c.Auth.Type == connectors.AuthPrivateKeyJWT
}

func because(c connectors.Connector) string {
	switch c.Auth.Type {
	case connectors.AuthClientCredentials:
		return refusedMachine
	case connectors.AuthPrivateKeyJWT:
		return refusedKey
	default:
		return refusedToken
	}
}
