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

// The reasons that are stored with a refused token.
const (
	refusedToken   = "The server no longer accepts this access. Connect again."
	refusedMachine = "The server refuses the authorization server's token. Check this client's permissions, then enter its secret again."
	refusedKey     = "The server refuses the authorization server's token. Check this client's permissions, then enter its key again."
)

// reportAuthFailure records that the server refused a token, and reports whether a new one may help:
//
//	401                   the token was refreshed already, or cannot be: a person has to reconnect
//	insufficient_scope    a machine requests the scopes; a person has to agree
//
// A token is not marked as refused if its refresh just failed for another reason.
func (cs *callSender) reportAuthFailure(ctx context.Context, w upstream.SessionRequest, credential *credentials.Credential, err error) (retry bool, _ error) {
	failure, ok := errors.AsType[*mcp.Error](err)
	if _, isFault := errors.AsType[*fault.Error](err); !ok || isFault || credential == nil || credential.Version == 0 || failure.SessionLost() {
		return false, err
	}
	scopes, wanted := scopesWanted(failure)
	var reportErr error
	switch {
	case failure.HTTPStatus == http.StatusForbidden && wanted:
		reportErr = cs.o.Credentials.RequestScopes(ctx, w.Tenant, credential, scopes, failure)
		retry = isMachine(w.Connector)
	case failure.HTTPStatus == http.StatusUnauthorized && failure.Reason == mcp.ReasonUnauthorized:
		reportErr = cs.o.Credentials.MarkRefused(ctx, w.Tenant, credential, refusedSentence(w.Connector), failure)
	default:
		return false, err
	}
	cs.pool.InvalidateCredentials(w.Tenant, w.Connector.ID)
	switch {
	case reportErr != nil:
		return false, errors.Join(reportErr, err)
	case retry:
		return true, err
	default:
		return false, errors.Join(cs.o.Credentials.ExplainMissing(ctx, w.Tenant, w.Connector, w.Account), err)
	}
}

// scopesWanted are the scopes that the server asks for (RFC 6750 section 3.1).
func scopesWanted(e *mcp.Error) (scopes []string, wanted bool) {
	for _, c := range e.Challenges {
		if (c.Scheme == "bearer" || c.Scheme == "dpop") && c.Params["error"] == "insufficient_scope" {
			return oauth.ParseScopes(c.Params["scope"]), true
		}
	}
	return nil, false
}

func isMachine(c connectors.Connector) bool {
	return c.Auth.Type == connectors.AuthClientCredentials || c.Auth.Type == connectors.AuthPrivateKeyJWT
}

func refusedSentence(c connectors.Connector) string {
	switch c.Auth.Type {
	case connectors.AuthClientCredentials:
		return refusedMachine
	case connectors.AuthPrivateKeyJWT:
		return refusedKey
	default:
		return refusedToken
	}
}
