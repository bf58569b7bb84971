package toolsync

import (
	"context"
	"errors"
	"net/http"

	"patchbay/internal/connectors"
	"patchbay/internal/mcp"
	"patchbay/internal/oauth"
)

// listWithRefresh lists the tools and retries with a new token when the server refuses the old one:
//
//	401                       refresh the token before its expiry and retry once
//	401 again                 mark the credential as refused: a person has to reconnect
//	401 of a member's token   from token exchange: only calls request the next one
//	insufficient_scope        a machine client requests the missing scopes; else a person has to reconnect
//
// A refresh that fails temporarily fails the run and leaves the credential as it is.
func (r *run) listWithRefresh(ctx context.Context, a attempt) (mcp.ToolList, error) {
	for renewed := false; ; {
		list, err := r.listOnce(ctx, a)
		e, ok := tokenRefusal(err, a)
		if !ok {
			return list, err
		}
		scopes, wanted := missingScopes(e)
		switch {
		case wanted:
			a, err = r.requestMissingScopes(ctx, a, scopes, e)
		case e.HTTPStatus != http.StatusUnauthorized, a.credential.RequestsForCallsOnly():
			return list, err
		case renewed:
			a, err = r.markRefused(ctx, a, refusedAgain, e)
		default:
			renewed = true
			a, err = r.refreshToken(ctx, a, e)
		}
		if err != nil {
			return list, err
		}
	}
}

// tokenRefusal returns the error of a server that refused the sent token.
func tokenRefusal(err error, a attempt) (*mcp.Error, bool) {
	e, ok := errors.AsType[*mcp.Error](err)
	return e, ok && e.Reason == mcp.ReasonUnauthorized && a.credential != nil && a.credential.Version != 0
}

// missingScopes returns the scopes of an insufficient_scope challenge (RFC 6750 section 3.1).
func missingScopes(e *mcp.Error) (scopes []string, wanted bool) {
	for _, challenge := range e.Challenges {
		if (challenge.Scheme == "bearer" || challenge.Scheme == "dpop") && challenge.Params["error"] == "insufficient_scope" {
			return oauth.ParseScopes(challenge.Params["scope"]), true
		}
	}
	return nil, false
}

// refreshToken returns an attempt with the token after a's, which the server refused.
func (r *run) refreshToken(ctx context.Context, a attempt, refusal *mcp.Error) (attempt, error) {
	next, err := r.credentials.ForceRefresh(ctx, r.tenant, r.connector, a.credential.ID, a.credential.Version)
	switch {
	case err != nil:
		return a, err
	case next == nil:
		return a, r.missingCredentialError(ctx, a)
	case next.Version == a.credential.Version:
		return r.markRefused(ctx, a, refusedForGood, refusal)
	default:
		return attempt{credential: next}, nil
	}
}

// requestMissingScopes records the missing scopes and returns an attempt with a token that has them, if no person has to
// consent.
func (r *run) requestMissingScopes(ctx context.Context, a attempt, scopes []string, refusal *mcp.Error) (attempt, error) {
	if err := r.credentials.RequestScopes(ctx, r.tenant, a.credential, scopes, refusal); err != nil {
		return a, err
	}
	next, err := r.credentials.ResolveAgain(ctx, r.tenant, a.credential)
	if err == nil && next == nil {
		err = r.missingCredentialError(ctx, a)
	}
	return attempt{credential: next}, err
}

// Sentences stored with a refused credential.
const (
	refusedAgain   = "The server refuses even a refreshed token. Connect again."
	refusedForGood = "The server no longer accepts this access. Connect again."
	refusedMachine = "The server refuses the authorization server's token. Check this client's permissions, then enter its secret again."
	refusedKey     = "The server refuses the authorization server's token. Check this client's permissions, then enter its key again."
)

func (r *run) markRefused(ctx context.Context, a attempt, reason string, refusal *mcp.Error) (attempt, error) {
	switch r.connector.Auth.Type {
	case connectors.AuthClientCredentials:
		reason = refusedMachine
	case connectors.AuthPrivateKeyJWT:
		reason = refusedKey
	}
	if err := r.credentials.MarkRefused(ctx, r.tenant, a.credential, reason, refusal); err != nil {
		return a, err
	}
	return a, r.missingCredentialError(ctx, a)
}

func (r *run) missingCredentialError(ctx context.Context, a attempt) error {
	return r.credentials.ExplainUnusable(ctx, r.tenant, r.connector, a.credential)
}
