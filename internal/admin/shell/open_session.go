package shell

import (
	"context"
	"net/http"
	"time"

	"patchbay/internal/auth"
	"patchbay/internal/fault"
	"patchbay/internal/secret"
)

const (
	sessionCheckTimeout  = 10 * time.Second
	sessionCheckInterval = time.Second // maximum age of the last check when an event is sent
)

// OpenSession is the session behind a response that stays open, such as an event stream.
type OpenSession struct {
	Actor   auth.Actor // as of the last check
	shell   *Shell
	token   secret.Text
	checked time.Time
}

// NewOpenSession returns the session of a request, which was checked when the request came.
func (h *Shell) NewOpenSession(r *http.Request) (*OpenSession, error) {
	cookie, err := r.Cookie(h.auth.Sessions().Cookie.Name)
	if err != nil {
		return nil, fault.Wrap(fault.Unauthenticated, err, "Sign in to continue.")
	}
	return &OpenSession{Actor: Actor(r), shell: h, token: secret.Text(cookie.Value), checked: h.Now()}, nil
}

// Check fails if the person was signed out, removed, or switched tenants.
func (s *OpenSession) Check() error {
	if s.shell.Now().Sub(s.checked) < sessionCheckInterval {
		return nil
	}
	// The request's context caches the session of the response's start, so this needs a new one.
	ctx, cancel := context.WithTimeout(context.Background(), sessionCheckTimeout)
	defer cancel()
	a, err := s.shell.auth.FromToken(ctx, s.token)
	if err != nil {
		return err
	}
	if a.Tenant.ID != s.Actor.Tenant.ID {
		return fault.Errorf(fault.Unauthenticated, "This session switched to another organisation.")
	}
	s.Actor.Role, s.Actor.Tenant, s.checked = a.Role, a.Tenant, s.shell.Now()
	return nil
}
