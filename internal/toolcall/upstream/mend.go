package upstream

import (
	"context"
	"errors"
	"net/http"

	"patchbay/internal/credentials"
	"patchbay/internal/mcp"
)

// mend does what can be done about a failure, and tells whether a second try can do better.
//
//	the session was ended meanwhile   a second try resolves anew, and gets another session or the reason
//	the server has lost it            the session has opened itself anew
//	the server broke off              it may have forgotten the session, too: then it opens itself anew at the second try
//	401                               the token is renewed, once for each version
func (p *Pool) mend(ctx context.Context, w *Want, u *credentials.Usable, e *entry, err error) (mended bool, _ error) {
	if p.wasCut(e) {
		return true, err
	}
	failure, ok := errors.AsType[*mcp.Error](err)
	switch {
	case !ok:
		return false, err
	case failure.SessionLost(), failure.BrokenOff():
		return true, err
	case failure.HTTPStatus == http.StatusUnauthorized && u != nil && u.Version != 0:
		return p.force(ctx, w, u, e, err)
	default:
		return false, err
	}
}

func (p *Pool) wasCut(e *entry) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return e.cut && !p.stopped
}

// force renews the token that was refused. One that was got by force itself, and has not served since, is not renewed by force again:
// a server that refuses everything would have us ask for a token at every call.
func (p *Pool) force(ctx context.Context, w *Want, u *credentials.Usable, e *entry, refused error) (bool, error) {
	if p.wasForced(e.place, u) {
		return false, refused
	}
	next, err := p.o.Credentials.Forced(ctx, w.Tenant, w.Connector, u.Agent, u.Version)
	switch {
	case err != nil:
		return false, errors.Join(err, refused)
	case next == nil || next.Version == u.Version:
		return false, refused
	}
	p.Forget(w.Tenant, w.Connector.ID)
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.forced) >= p.o.Most { // of places that nobody uses any more, most of them
		clear(p.forced)
	}
	p.forced[e.place] = next.Revision
	return true, refused
}

func unauthorized(err error) bool {
	failure, ok := errors.AsType[*mcp.Error](err)
	return ok && failure.HTTPStatus == http.StatusUnauthorized && !failure.SessionLost()
}

func (p *Pool) wasForced(at place, u *credentials.Usable) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.forced[at] == u.Revision
}
