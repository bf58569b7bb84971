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
	"patchbay/internal/i18n"
	"patchbay/internal/safe"
)

// HandlerFunc handles a request, or returns why it failed.
type HandlerFunc func(w http.ResponseWriter, r *http.Request) error

// Responder writes responses.
type Responder struct {
	log      *slog.Logger
	sessions *scs.SessionManager
	frame    FailureFrame // nil: failure pages have no frame
}

// New returns a Responder. Flashes are stored in the sessions; LoadAndSave must come before [Responder.Back].
func New(log *slog.Logger, sessions *scs.SessionManager) *Responder {
	return &Responder{log: log, sessions: sessions}
}

// SetFailureFrame sets the frame of failure pages. It is called before the first request.
func (p *Responder) SetFailureFrame(frame FailureFrame) { p.frame = frame }

// Program adapts a handler for programs: a failure becomes a problem document.
func (p *Responder) Program(h HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if err := h(w, r); err != nil {
			p.Problem(w, r, err)
		}
	}
}

// Browser adapts a handler for browsers: a failure becomes a page.
func (p *Responder) Browser(h HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if err := h(w, r); err != nil {
			p.Failure(w, r, err)
		}
	}
}

// asFault converts err to a fault, and logs what only the operator may see.
func (p *Responder) asFault(ctx context.Context, err error) *fault.Error {
	f := Fault(err)
	cause := f.Err
	if cause == nil {
		cause = err
	}
	attrs := []any{"request_id", middleware.GetReqID(ctx), "error", cause}
	switch {
	case ctx.Err() != nil:
		// The caller is gone, which caused the failure.
		p.log.DebugContext(ctx, "request abandoned", attrs...)
	case safe.IsPanic(err):
	case f.Kind == fault.Internal:
		p.log.ErrorContext(ctx, "request failed", attrs...)
	case f.Kind == fault.Unavailable:
		p.log.WarnContext(ctx, "request not served", attrs...)
	}
	return f
}

// Fault converts err to a fault: its own, a known error's, or an Internal one.
func Fault(err error) *fault.Error {
	if tooLarge, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return fault.Wrap(fault.TooLarge, err,
			"The request is larger than "+strconv.FormatInt(tooLarge.Limit>>20, 10)+" MiB.")
	}
	return fault.As(err)
}

// LocalizedFault is Fault in the reader's language.
func LocalizedFault(ctx context.Context, err error) *fault.Error {
	if err == nil {
		return nil
	}
	f := *Fault(err)
	f.Message, f.Fields = i18n.TranslateKnown(ctx, f.Message), slices.Clone(f.Fields)
	for i, field := range f.Fields {
		f.Fields[i].Message = i18n.TranslateKnown(ctx, field.Message)
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

// Sentence is the public sentence of a failure, for another page. Causes are logged.
func (p *Responder) Sentence(r *http.Request, err error) string {
	return i18n.TranslateKnown(r.Context(), p.asFault(r.Context(), err).Message)
}
