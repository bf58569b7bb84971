package toolsync

import (
	"context"
	"errors"
	"net/http"

	"patchbay/internal/connectors"
	"patchbay/internal/mcp"
	"patchbay/internal/oauth"
)

// insist has a conversation, and where the server refuses a token that can be had anew, another one with the next token:
//
//	401                       the token is renewed before its time, and tried once more
//	401 again                 only a person can mend it: the credential is dead, and so asked for nothing any more
//	insufficient_scope        a machine gets what is missing; a person has to agree, and until then the credential is dead
//
// What cannot be renewed just now accuses nobody: the run fails, and the next one tries again.
func (r *run) insist(ctx context.Context, a attempt) (mcp.ToolList, error) {
	for renewed := false; ; {
		list, err := r.converse(ctx, a)
		e, ok := refusesToken(err, a)
		if !ok {
			return list, err
		}
		scopes, wanted := scopesWanted(e)
		switch {
		case wanted:
			a, err = r.stepUp(ctx, a, scopes)
		case e.HTTPStatus != http.StatusUnauthorized:
			return list, err
		case renewed:
			a, err = r.giveUp(ctx, a, refusedAgain)
		default:
			renewed = true
			a, err = r.renew(ctx, a)
		}
		if err != nil {
			return list, err
		}
	}
}

// refusesToken tells whether the server refuses the token that was sent.
func refusesToken(err error, a attempt) (*mcp.Error, bool) {
	e, ok := errors.AsType[*mcp.Error](err)
	return e, ok && e.Reason == mcp.ReasonUnauthorized && a.credential != nil && a.credential.Version != 0
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

// renew gets the token that follows the one of a.
func (r *run) renew(ctx context.Context, a attempt) (attempt, error) {
	next, err := r.credentials.Forced(ctx, r.tenant, r.connector, a.credential.Agent, a.credential.Version)
	switch {
	case err != nil:
		return a, err
	case next == nil:
		return a, r.whyMissing(ctx, a)
	case next.Version == a.credential.Version:
		return r.giveUp(ctx, a, refusedForGood)
	default:
		return attempt{credential: next}, nil
	}
}

// stepUp notes which scopes are missing, and gets the token that has them where no person is asked for it.
func (r *run) stepUp(ctx context.Context, a attempt, scopes []string) (attempt, error) {
	if err := r.credentials.NeedsScopes(ctx, r.tenant, a.credential, scopes); err != nil {
		return a, err
	}
	next, err := r.credentials.Of(ctx, r.tenant, r.connector, a.credential.Agent)
	if err == nil && next == nil {
		err = r.whyMissing(ctx, a)
	}
	return attempt{credential: next}, err
}

// The sentences of a refused token, as they are stored with it.
const (
	refusedAgain   = "The server refuses the access, also after it was renewed. Connect again."
	refusedForGood = "The server does not accept the access any more. Connect again."
	refusedMachine = "The server refuses the access that the authorization server gives. Check what this client is allowed to do, then enter its secret again."
	refusedKey     = "The server refuses the access that the authorization server gives. Check what this client is allowed to do, then enter its key again."
)

func (r *run) giveUp(ctx context.Context, a attempt, because string) (attempt, error) {
	switch r.connector.Auth.Type {
	case connectors.AuthClientCredentials:
		because = refusedMachine
	case connectors.AuthPrivateKeyJWT:
		because = refusedKey
	}
	if err := r.credentials.Refused(ctx, r.tenant, a.credential, because); err != nil {
		return a, err
	}
	return a, r.whyMissing(ctx, a)
}

// whyMissing is what to tell of a credential that was tried and is dead.
func (r *run) whyMissing(ctx context.Context, a attempt) error {
	return r.credentials.WhyMissing(ctx, r.tenant, r.connector, a.credential.Agent)
}
