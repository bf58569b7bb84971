package auth

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/go-chi/chi/v5/middleware"

	"patchbay/internal/connectors"
)

// Identify identifies the caller, for package middleware. An Authorization header identifies a program and
// alone counts; otherwise the session counts.
func (s *Service) Identify(r *http.Request) (context.Context, []slog.Attr, error) {
	if header := r.Header.Get("Authorization"); header != "" {
		return withActor(r)(s.FromBearer(r.Context(), header))
	}
	return withActor(r)(s.FromSession(r.Context()))
}

// IdentifyBearer is Identify without sessions, for routes that no browser uses: a page of another site could
// use the session. A token of a client that acts as a member yields that member with the current role and no
// session.
func (s *Service) IdentifyBearer(r *http.Request) (context.Context, []slog.Attr, error) {
	return withActor(r)(s.fromBearerOrClient(r))
}

// IdentifyPerson is Identify for pages: it refuses an Authorization header. The cross-origin check passes such
// requests, so they must not reach the session. An event stream does not count as use: an open page would keep its
// session for ever.
func (s *Service) IdentifyPerson(r *http.Request) (context.Context, []slog.Attr, error) {
	if r.Header.Get("Authorization") != "" {
		return nil, nil, errNotSignedIn()
	}
	if strings.Contains(r.Header.Get("Accept"), "text/event-stream") {
		a, _, err := s.fromSession(r.Context())
		return withActor(r)(requireEnrolled(a, err))
	}
	return withActor(r)(s.FromSession(r.Context()))
}

// IdentifyEnrolling is IdentifyPerson for pages that also open before a required second factor is set up.
func (s *Service) IdentifyEnrolling(r *http.Request) (context.Context, []slog.Attr, error) {
	if r.Header.Get("Authorization") != "" {
		return nil, nil, errNotSignedIn()
	}
	return withActor(r)(s.FromSessionBeforeEnrolment(r.Context()))
}

// withActor completes the actor from the request and adds it to the context and the log attributes.
func withActor(r *http.Request) func(Actor, error) (context.Context, []slog.Attr, error) {
	return func(a Actor, err error) (context.Context, []slog.Attr, error) {
		if err != nil {
			return nil, nil, err
		}
		a.RequestID = middleware.GetReqID(r.Context())
		a.Address = Address(r)
		who := []slog.Attr{
			slog.String("tenant_id", a.Tenant.ID.String()),
			slog.String("actor_type", string(a.Kind)),
		}
		if id := a.ID(); id != nil {
			who = append(who, slog.String("actor_id", id.String()))
		}
		return WithActor(r.Context(), a), who, nil
	}
}

// Browser describes the browser of a sign-in.
type Browser struct {
	UserAgent, Address string
	RequestID          string // for the audit log

	// PasswordSetAt is when the password given here was chosen; zero: none was given. If the password has
	// changed since, the session ends at once.
	PasswordSetAt time.Time

	sso    *connectors.TenantID // tenant of the provider
	proven bool                 // by the second factor
}

// NewBrowser returns the browser of a request.
func NewBrowser(r *http.Request) Browser {
	return Browser{UserAgent: r.UserAgent(), Address: Address(r), RequestID: middleware.GetReqID(r.Context())}
}

// Address returns the remote address without a port.
func Address(r *http.Request) string {
	if ip := middleware.GetClientIP(r.Context()); ip != "" {
		return ip
	}
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	return host
}
