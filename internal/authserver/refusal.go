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
)

// refusal is a failure in OAuth's words (RFC 6749 §5.2).
type refusal struct {
	Status int           // 0: 400
	Code   string        //
	Says   string        // a sentence for developers
	After  time.Duration // when to try again; 0: nobody knows
}

func (r *refusal) Error() string { return r.Code + ": " + r.Says }

func invalidGrant(says string) *refusal { return &refusal{Code: "invalid_grant", Says: says} }

func invalidRequest(says string) *refusal { return &refusal{Code: "invalid_request", Says: says} }

// program adapts a handler whose caller is a program that speaks OAuth.
func (s *Server) program(h respond.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if err := h(w, r); err != nil {
			s.Refuse(w, r, err)
		}
	}
}

// Refuse answers a program with what went wrong, here or before its request came here.
func (s *Server) Refuse(w http.ResponseWriter, r *http.Request, err error) {
	said, ok := errors.AsType[*refusal](err)
	if !ok {
		said = s.translated(r, err)
	}
	if said.After > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(said.After.Seconds())))
	}
	status := said.Status
	if status == 0 {
		status = http.StatusBadRequest
	}
	answer(w, status, map[string]string{"error": said.Code, "error_description": said.Says})
}

// translated words a failure that is not OAuth's.
func (s *Server) translated(r *http.Request, err error) *refusal {
	f := respond.Fault(err)
	switch f.Kind {
	case fault.TooLarge, fault.Malformed, fault.Invalid:
		return invalidRequest(f.Message)
	case fault.RateLimited: // of the address; RFC 6749 has no word for it at the token endpoint, and this one elsewhere (§4.1.2.1)
		return &refusal{Status: http.StatusTooManyRequests, Code: "temporarily_unavailable", Says: f.Message, After: time.Duration(max(1, f.RetryAfter)) * time.Second}
	case fault.Unavailable:
		return &refusal{Status: http.StatusServiceUnavailable, Code: "temporarily_unavailable", Says: f.Message, After: time.Second}
	}
	if r.Context().Err() == nil {
		s.log.ErrorContext(r.Context(), "request failed", slog.String("request_id", middleware.GetReqID(r.Context())), slog.Any("error", err))
	}
	return &refusal{Status: http.StatusInternalServerError, Code: "server_error", Says: "something went wrong here"}
}

// answer sends a document that nobody keeps.
func answer(w http.ResponseWriter, status int, document any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(document) // a caller that has gone needs no answer
}
