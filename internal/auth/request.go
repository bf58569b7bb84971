package auth

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/go-chi/chi/v5/middleware"

	"patchbay/internal/connectors"
)

// Identify establishes who makes a request: it is an identifier for package middleware. A request with an Authorization
// header is a program's and is judged by that alone; any other is a browser's, judged by its session.
func (s *Service) Identify(r *http.Request) (context.Context, []slog.Attr, error) {
	if header := r.Header.Get("Authorization"); header != "" {
		return identified(r)(s.FromBearer(r.Context(), header))
	}
	return identified(r)(s.FromSession(r.Context()))
}

// IdentifyProgram is Identify for doors that no browser uses: a session is nobody's there, or a page of another site could speak for whoever
// reads it. The token of a program that a member let act as them becomes that member here: the actor is the same kind, with the role that the
// member has at this moment, and no session.
func (s *Service) IdentifyProgram(r *http.Request) (context.Context, []slog.Attr, error) {
	return identified(r)(s.fromProgram(r.Context(), r.Header.Get("Authorization")))
}

// IdentifyPerson is Identify for pages, which no program reads: a request with an Authorization header is nobody's there.
// The check against other sites' forms lets such requests pass, so they must not reach what a session may do.
func (s *Service) IdentifyPerson(r *http.Request) (context.Context, []slog.Attr, error) {
	if r.Header.Get("Authorization") != "" {
		return nil, nil, notSignedIn()
	}
	return identified(r)(s.FromSession(r.Context()))
}

// IdentifyEnrolling is IdentifyPerson for the pages that open to whoever has to set a second factor up first.
func (s *Service) IdentifyEnrolling(r *http.Request) (context.Context, []slog.Attr, error) {
	if r.Header.Get("Authorization") != "" {
		return nil, nil, notSignedIn()
	}
	return identified(r)(s.FromEnrolling(r.Context()))
}

// identified completes an actor with what the request tells, and puts it where handlers and the log find it.
func identified(r *http.Request) func(Actor, error) (context.Context, []slog.Attr, error) {
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

// Browser is what signs in: what it says of itself, and where it is.
type Browser struct {
	UserAgent, Address string
	RequestID          string // for the audit log

	// PasswordOf is when the password was chosen that was given here; zero: none was. A session by a password that is none any more by the
	// time it begins is over at once: who changes it wants the others out.
	PasswordOf time.Time

	sso    *connectors.TenantID // at whose provider its person signed in
	proven bool                 // by its person's second factor
}

// BrowserOf is the one that a request comes from.
func BrowserOf(r *http.Request) Browser {
	return Browser{UserAgent: r.UserAgent(), Address: Address(r), RequestID: middleware.GetReqID(r.Context())}
}

// Address is where a request comes from, without a port.
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
