package serve_test

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"patchbay/internal/mcp/serve"
)

// FuzzRequests sends any body: the reply must be JSON with a status of the protocol.
func FuzzRequests(f *testing.F) {
	a := modernRequest("tools/call", `,"name":"x","arguments":{}`, "")
	f.Add(a.body, a.header["MCP-Protocol-Version"], "tools/call", "x", false)
	f.Add(callWait, "2025-11-25", "", "", true)
	f.Add(`[`+pingMessage+`]`, "2025-03-26", "", "", false)
	f.Add(`{"jsonrpc":"2.0","id":"\ud800","method":"tools/list","params":{"cursor":"\u0000"}}`, "", "", "", true)
	f.Add(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":[],"clientInfo":"x"}}`, "x", "", "", false)
	f.Add(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":{}}}`, "2025-11-25", "=?base64?", "=?base64??=", true)
	s := serve.New(serve.Options{Log: slog.New(slog.DiscardHandler), Origins: func(*http.Request) bool { return true }})
	session := startedSession(s)
	f.Fuzz(func(t *testing.T, body, version, method, name string, inSession bool) {
		r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(body))
		for header, value := range map[string]string{"Mcp-Protocol-Version": version, "Mcp-Method": method, "Mcp-Name": name} {
			if value != "" {
				r.Header[header] = []string{value}
			}
		}
		r.Header.Set("Content-Type", "application/json")
		if inSession {
			r.Header.Set("Mcp-Session-Id", session)
		}
		w := httptest.NewRecorder()
		s.Handle(w, r, "me", &testBackend{})
		switch w.Code {
		case http.StatusOK, http.StatusBadRequest, http.StatusNotFound, http.StatusNotAcceptable:
			if !json.Valid(w.Body.Bytes()) {
				t.Errorf("answered %d %q", w.Code, w.Body)
			}
		case http.StatusAccepted:
			if w.Body.Len() > 0 {
				t.Errorf("accepted, with %q", w.Body)
			}
		default:
			t.Errorf("answered %d %q", w.Code, w.Body)
		}
	})
}

func startedSession(s *serve.Server) string {
	w := httptest.NewRecorder()
	r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}`))
	r.Header.Set("Content-Type", "application/json")
	s.Handle(w, r, "me", &testBackend{})
	return w.Header().Get("Mcp-Session-Id")
}
