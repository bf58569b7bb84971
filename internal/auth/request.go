package auth

import (
	"context"
	"log/slog"
	"net"
	"net/http"

	"github.com/go-chi/chi/v5/middleware"
)

// Identify establishes who makes a request: it is the identifier of package middleware. A request with an Authorization
// header is a program's and is judged by that alone; any other is a browser's, judged by its session.
func (s *Service) Identify(r *http.Request) (context.Context, []slog.Attr, error) {
	a, err := s.caller(r)
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

func (s *Service) caller(r *http.Request) (Actor, error) {
	if header := r.Header.Get("Authorization"); header != "" {
		return s.FromBearer(r.Context(), header)
	}
	return s.FromSession(r.Context())
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
