package respond

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"strconv"

	"github.com/alexedwards/scs/v2"
	"github.com/go-chi/chi/v5/middleware"

	"patchbay/internal/fault"
	"patchbay/internal/safe"
	"patchbay/internal/words"
)

// HandlerFunc answers a request, or says why it cannot.
type HandlerFunc func(w http.ResponseWriter, r *http.Request) error

// Responder writes answers.
type Responder struct {
	log      *slog.Logger
	sessions *scs.SessionManager
	frame    FailureFrame // nil: pages of failures stand alone
}

// New makes a Responder. Flashes are kept in the sessions, whose LoadAndSave must stand before [Responder.Back].
func New(log *slog.Logger, sessions *scs.SessionManager) *Responder {
	return &Responder{log: log, sessions: sessions}
}

// FailIn has pages of failures stand in a frame. It is called before the first request.
func (p *Responder) FailIn(frame FailureFrame) { p.frame = frame }

// Program adapts a handler whose caller is a program: a failure becomes a problem document.
func (p *Responder) Program(h HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if err := h(w, r); err != nil {
			p.Problem(w, r, err)
		}
	}
}

// Browser adapts a handler whose caller is a browser: a failure becomes a page.
func (p *Responder) Browser(h HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if err := h(w, r); err != nil {
			p.Failure(w, r, err)
		}
	}
}

// failure reads err as a fault and logs what only the operator may see.
func (p *Responder) failure(r *http.Request, err error) *fault.Error {
	f := Fault(err)
	cause := f.Err
	if cause == nil {
		cause = err
	}
	attrs := []any{"request_id", middleware.GetReqID(r.Context()), "error", cause}
	switch {
	case r.Context().Err() != nil:
		// The caller has gone; what failed failed because of that.
		p.log.DebugContext(r.Context(), "request abandoned", attrs...)
	case safe.IsPanic(err):
	case f.Kind == fault.Internal:
		p.log.ErrorContext(r.Context(), "request failed", attrs...)
	case f.Kind == fault.Unavailable:
		p.log.WarnContext(r.Context(), "request not served", attrs...)
	}
	return f
}

// Fault reads err as a fault: its own, the one that it stands for, or an Internal one.
func Fault(err error) *fault.Error {
	if tooLarge, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return fault.Wrap(fault.TooLarge, err,
			"The request is larger than "+strconv.FormatInt(tooLarge.Limit>>20, 10)+" MiB.")
	}
	return fault.As(err)
}

// Told is Fault for a page: in the language of whoever reads it.
func Told(ctx context.Context, err error) *fault.Error {
	if err == nil {
		return nil
	}
	f := *Fault(err)
	f.Message, f.Fields = words.Said(ctx, f.Message), slices.Clone(f.Fields)
	for i, field := range f.Fields {
		f.Fields[i].Message = words.Said(ctx, field.Message)
	}
	return &f
}

// Status is the HTTP status of a kind of failure.
func Status(k fault.Kind) int {
	switch k {
	case fault.Malformed:
		return http.StatusBadRequest
	case fault.Unauthenticated:
		return http.StatusUnauthorized
	case fault.Denied:
		return http.StatusForbidden
	case fault.NotFound:
		return http.StatusNotFound
	case fault.BadMethod:
		return http.StatusMethodNotAllowed
	case fault.Conflict:
		return http.StatusConflict
	case fault.TooLarge:
		return http.StatusRequestEntityTooLarge
	case fault.Invalid:
		return http.StatusUnprocessableEntity
	case fault.RateLimited:
		return http.StatusTooManyRequests
	case fault.Upstream:
		return http.StatusBadGateway
	case fault.Unavailable:
		return http.StatusServiceUnavailable
	default:
		return http.StatusInternalServerError
	}
}

// Sentence is what a person may read of a failure that is told on another page; what may not be read is logged.
func (p *Responder) Sentence(r *http.Request, err error) string {
	return words.Said(r.Context(), p.failure(r, err).Message)
}
