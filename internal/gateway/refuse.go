package gateway

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"time"

	"patchbay/internal/fault"
	"patchbay/internal/respond"
	"patchbay/internal/safe"
)

// unread is how long the HTTP server may wait for a body that nobody here has read: it does so after the answer.
const unread = 10 * time.Second

// refuse answers a request of this id that reaches no MCP server.
func (h *Handler) refuse(w http.ResponseWriter, r *http.Request, id string, err error) {
	f := fault.As(err)
	header := w.Header()
	h.logRefusal(r, f, id)
	respond.SetRetryAfter(header, f)
	if f.Kind == fault.Unauthenticated {
		h.challenge(header, r)
	}
	header.Set("Content-Type", respond.ProblemMediaType)
	control := http.NewResponseController(w)
	_ = control.SetWriteDeadline(time.Time{}) // that of the connection's last request
	if r.Body != nil && r.Body != http.NoBody {
		_ = control.SetReadDeadline(time.Now().Add(unread))
	}
	w.WriteHeader(respond.Status(f.Kind))
	_ = json.NewEncoder(w).Encode(respond.Document(f)) // a caller that has gone needs no answer
}

func (h *Handler) logRefusal(r *http.Request, f *fault.Error, id string) {
	switch {
	case r.Context().Err() != nil, safe.IsPanic(f):
	case f.Kind == fault.Internal:
		h.log.ErrorContext(r.Context(), "request failed", slog.String("request_id", id), slog.Any("error", f))
	case f.Kind == fault.Unavailable:
		h.log.WarnContext(r.Context(), "request not served", slog.String("request_id", id), slog.Any("error", f))
	}
}

// challenge says how to prove who one is (RFC 6750 §3), and where that is described (RFC 9728 §5.1).
func (h *Handler) challenge(header http.Header, r *http.Request) {
	says := `Bearer resource_metadata="` + h.base + metadataPath + mcpAddress(r.URL.Path) + `"`
	if r.Header.Get("Authorization") != "" {
		says += `, error="invalid_token"`
	}
	header.Set("WWW-Authenticate", says)
}
