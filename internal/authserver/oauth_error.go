package authserver

import (
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"strconv"
	"time"

	"github.com/go-chi/chi/v5/middleware"

	"patchbay/internal/fault"
	"patchbay/internal/respond"
	"patchbay/internal/safe"
)

// oauthError is an error response (RFC 6749 section 5.2).
type oauthError struct {
	Status      int           // 0: 400
	Code        string        //
	Description string        // for developers
	RetryAfter  time.Duration // 0: unknown
}

func (r *oauthError) Error() string { return r.Code + ": " + r.Description }

func invalidGrant(says string) *oauthError {
	return &oauthError{Code: "invalid_grant", Description: says}
}

func invalidRequest(says string) *oauthError {
	return &oauthError{Code: "invalid_request", Description: says}
}

// adaptHandler adapts a handler of an OAuth endpoint.
func (s *Server) adaptHandler(h respond.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if err := h(w, r); err != nil {
			s.WriteError(w, r, err)
		}
	}
}

// WriteError writes an error as an OAuth error response.
func (s *Server) WriteError(w http.ResponseWriter, r *http.Request, err error) {
	oerr, ok := errors.AsType[*oauthError](err)
	if !ok {
		oerr = s.toOAuthError(r, err)
	}
	if oerr.RetryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(oerr.RetryAfter.Seconds())))
	}
	status := oerr.Status
	if status == 0 {
		status = http.StatusBadRequest
	}
	writeJSON(w, status, map[string]string{"error": oerr.Code, "error_description": oerr.Description})
}

// toOAuthError converts an error that is not OAuth's.
func (s *Server) toOAuthError(r *http.Request, err error) *oauthError {
	f := respond.Fault(err)
	switch f.Kind {
	case fault.TooLarge, fault.Malformed, fault.Invalid:
		return invalidRequest(f.Message)
	case fault.Denied:
		return &oauthError{Status: http.StatusForbidden, Code: "access_denied", Description: f.Message}
	case fault.RateLimited: // of the address; RFC 6749 has no word for it at the token endpoint, and this one elsewhere (§4.1.2.1)
		return &oauthError{Status: http.StatusTooManyRequests, Code: "temporarily_unavailable", Description: f.Message, RetryAfter: time.Duration(max(1, f.RetryAfter)) * time.Second}
	case fault.Unavailable:
		return &oauthError{Status: http.StatusServiceUnavailable, Code: "temporarily_unavailable", Description: f.Message, RetryAfter: time.Second}
	}
	if r.Context().Err() == nil && !safe.IsPanic(err) {
		s.log.ErrorContext(r.Context(), "request failed", slog.String("request_id", middleware.GetReqID(r.Context())), slog.Any("error", err))
	}
	return &oauthError{Status: http.StatusInternalServerError, Code: "server_error", Description: "internal error"}
}

// writeJSON writes an uncacheable document.
func writeJSON(w http.ResponseWriter, status int, document any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(document) // a caller that has gone needs no answer
}
