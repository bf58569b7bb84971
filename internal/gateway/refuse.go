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

// bodyReadTimeout bounds how long the HTTP server waits for an unread body after the response.
const bodyReadTimeout = 10 * time.Second

// writeRefusal writes a problem document for a request that does not reach MCP.
func (h *Handler) writeRefusal(w http.ResponseWriter, r *http.Request, id string, err error) {
	f := fault.As(err)
	header := w.Header()
	h.logRefusal(r, f, id)
	respond.SetRetryAfter(header, f)
	if f.Kind == fault.Unauthenticated {
		header.Set("WWW-Authenticate", respond.ResourceChallenge(f, r.Header.Get("Authorization"), h.base+metadataPath+mcpAddress(r.URL.Path)))
	}
	header.Set("Content-Type", respond.ProblemMediaType)
	control := http.NewResponseController(w)
	_ = control.SetWriteDeadline(time.Time{}) // left over from the connection's last request
	if r.Body != nil && r.Body != http.NoBody {
		_ = control.SetReadDeadline(time.Now().Add(bodyReadTimeout))
	}
	w.WriteHeader(respond.Status(f.Kind))
	_ = json.NewEncoder(w).Encode(respond.Document(f)) // a disconnected client needs no response
}

// writeCallerRefusal answers a request without a known agent. During a database outage it is a JSON-RPC error
// with Retry-After.
func (h *Handler) writeCallerRefusal(w http.ResponseWriter, r *http.Request, id string, err error) {
	f := fault.As(err)
	if f.Kind != fault.Unavailable {
		h.writeRefusal(w, r, id, err)
		return
	}
	h.logRefusal(r, f, id)
	respond.SetRetryAfter(w.Header(), f)
	why, _ := json.Marshal(map[string]toolcall.Reason{reasonMember: {Code: toolcall.CodeUnavailable, RetryAfter: f.RetryAfter}}) // it always marshals
	_ = http.NewResponseController(w).SetWriteDeadline(time.Time{})                                                              // left over from the connection's last request
	h.server.Reject(w, r, &serve.RPCError{Code: codeRefused, Status: http.StatusServiceUnavailable, Data: why, Message: f.Message})
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
