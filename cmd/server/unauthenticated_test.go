package main

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// The limit holds for every route but the agents', whose own limit counts tokens.
func TestUnauthenticated_RateLimitedAtEveryRoute(t *testing.T) {
	t.Parallel()
	h := newApp(t)
	h.run.server.StrangerRate = 1
	at := time.Now()
	h.now = func() time.Time { return at } // the clock stands still
	for n, c := range []struct{ method, path, kind string }{
		{http.MethodGet, "/login", "text/html"},
		{http.MethodPost, "/login", "text/html"},
		{http.MethodPost, "/login/sso", "text/html"},
		{http.MethodGet, "/login/sso/callback?state=a&code=b", "text/html"},
		{http.MethodGet, "/oauth/callback?state=a&code=b", "text/html"},
		{http.MethodGet, "/setup?token=a", "text/html"},
		{http.MethodGet, "/connect/a", "text/html"},
		{http.MethodGet, "/connectors", "text/html"},
		{http.MethodGet, "/api/v1/connectors", "application/problem+json"},
		{http.MethodPost, "/mcp/admin", "text/html"},
		{http.MethodGet, "/openapi.json", "text/html"},
		{http.MethodPost, "/oauth/token", "application/json"},
		{http.MethodPost, "/oauth/register", "application/json"},
		{http.MethodPost, "/oauth/revoke", "application/json"},
		{http.MethodPost, "/oauth/introspect", "application/json"},
		{http.MethodGet, "/registry/a/v0.1/servers", "application/json"},
		{http.MethodGet, "/scim/v2/Users", "application/scim+json"},
	} {
		handler := h.rootHandler() // with its own limit
		refused := 0
		for range 10 {
			r := httptest.NewRequest(c.method, "http://127.0.0.1:8080"+c.path, nil)
			r.RemoteAddr = "192.0.2.1:1"
			w := httptest.NewRecorder()
			handler.ServeHTTP(w, r)
			if w.Code != http.StatusTooManyRequests {
				continue
			}
			refused++
			if w.Header().Get("Retry-After") == "" || !strings.HasPrefix(w.Header().Get("Content-Type"), c.kind) {
				t.Errorf("%d %s: Retry-After %q, as %s", n, c.path, w.Header().Get("Retry-After"), w.Header().Get("Content-Type"))
			}
			if strings.HasPrefix(c.path, "/oauth/") && c.kind == "application/json" && !strings.HasPrefix(w.Body.String(), `{"error":"temporarily_unavailable","error_description":"Too many unauthenticated requests from this address`) {
				t.Errorf("%s: %s", c.path, w.Body)
			}
		}
		if refused == 0 {
			t.Errorf("%s %s is answered without end", c.method, c.path)
		}
	}
	handler := h.rootHandler()
	for range 20 {
		for _, path := range []string{"/healthz", "/readyz", "/static/none"} {
			w := httptest.NewRecorder()
			handler.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
			if w.Code == http.StatusTooManyRequests {
				t.Fatalf("%s is refused", path)
			}
		}
	}
}
