package upstream

import (
	"context"
	"errors"
	"net/http"

	"patchbay/internal/credentials"
	"patchbay/internal/mcp"
)

// prepareRetry fixes the cause of a failure, and reports whether a second try may help:
//
//	session ended here       the second try resolves and opens again
//	session lost at server   the session has initialized again
//	connection broke         the session initializes again if the server has lost it
//	401                      the token is refreshed, once for each version
func (p *Pool) prepareRetry(ctx context.Context, w *SessionRequest, u *credentials.Credential, e *entry, err error) (canRetry bool, _ error) {
	if p.wasAborted(e) {
		return true, err
	}
	failure, ok := errors.AsType[*mcp.Error](err)
	switch {
	case !ok:
		return false, err
	case failure.SessionLost(), failure.Interrupted():
		return true, err
	case failure.HTTPStatus == http.StatusUnauthorized && u != nil && u.Version != 0:
		return p.forceRefresh(ctx, w, u, e, err)
	default:
		return false, err
	}
}

func (p *Pool) wasAborted(e *entry) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return e.aborted && !p.stopped
}

// forceRefresh refreshes a refused token. A forced token that has not served yet is not forced again: a server
// that refuses everything would cause a token request with every call.
func (p *Pool) forceRefresh(ctx context.Context, w *SessionRequest, u *credentials.Credential, e *entry, refusal error) (bool, error) {
	if p.wasRefreshForced(e.key, u) {
		return false, refusal
	}
	next, err := p.o.Credentials.ForceRefresh(ctx, w.Tenant, w.Connector, u.ID, u.Version)
	switch {
	case err != nil:
		return false, errors.Join(err, refusal)
	case next == nil || next.Version == u.Version:
		return false, refusal
	}
	p.InvalidateCredentials(w.Tenant, w.Connector.ID)
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.forcedRevisions) >= p.o.MaxSessions { // most of them are of sessions that are not used any more
		clear(p.forcedRevisions)
	}
	p.forcedRevisions[e.key] = next.Revision
	return true, refusal
}

func isUnauthorized(err error) bool {
	failure, ok := errors.AsType[*mcp.Error](err)
	return ok && failure.HTTPStatus == http.StatusUnauthorized && !failure.SessionLost()
}

func (p *Pool) wasRefreshForced(key sessionKey, u *credentials.Credential) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.forcedRevisions[key] == u.Revision
}
