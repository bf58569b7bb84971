package gateway

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"time"

	"patchbay/internal/fault"
	"patchbay/internal/mcp/serve"
	"patchbay/internal/respond"
	"patchbay/internal/safe"
	"patchbay/internal/toolcall"
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

// refuseCaller answers a request whose agent was not found. While the database is away it is told so as in a result, and to come back.
func (h *Handler) refuseCaller(w http.ResponseWriter, r *http.Request, id string, err error) {
	f := fault.As(err)
	if f.Kind != fault.Unavailable {
		h.refuse(w, r, id, err)
		return
	}
	h.logRefusal(r, f, id)
	respond.SetRetryAfter(w.Header(), f)
	why, _ := json.Marshal(map[string]reason{reasonMember: {Code: string(toolcall.CodeUnavailable), RetryAfter: f.RetryAfter}}) // it always marshals
	_ = http.NewResponseController(w).SetWriteDeadline(time.Time{})                                                             // that of the connection's last request
	h.server.TurnAway(w, r, &serve.RPCError{Code: codeRefused, Status: http.StatusServiceUnavailable, Data: why, Message: f.Message})
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
