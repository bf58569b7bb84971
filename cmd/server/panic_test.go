package main

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/installation"
	"patchbay/internal/safe"
	"patchbay/internal/testing/paniclog"
)

// requestBody panics in its first read, or is an empty form.
type requestBody struct {
	*strings.Reader
	panics bool
}

func (b requestBody) Read(p []byte) (int, error) {
	if b.panics {
		panic("a secret")
	}
	return b.Reader.Read(p)
}

func (requestBody) Close() error { return nil }

// The handlers of the endpoints for OAuth clients panic while they read the form.
func TestOAuthEndpoint_PanicIsOAuthError(t *testing.T) {
	t.Parallel()
	panics := paniclog.Start()
	h := newApp(t)
	h.run.log = panics.Logger()
	tenant, err := h.database.Store.System().TenantByRef(t.Context(), installation.FirstTenant)
	if err != nil {
		t.Fatal(err)
	}
	_, key, err := h.auth.IssueKey(t.Context(), auth.Operator(tenant), auth.KeyRequest{Name: "test", Role: connectors.RoleOwner})
	if err != nil {
		t.Fatal(err)
	}
	handler := h.rootHandler()
	send := func(path string, panics bool) *httptest.ResponseRecorder {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "http://127.0.0.1:8080"+path, requestBody{strings.NewReader("x=y"), panics})
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		if path == "/oauth/register" {
			r.Header.Set("Content-Type", "application/json")
		}
		if path == "/oauth/introspect" {
			r.Header.Set("Authorization", "Bearer "+key.Reveal())
		}
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		return w
	}
	paths := []string{"/oauth/token", "/oauth/register", "/oauth/revoke", "/oauth/introspect"}
	for _, path := range paths {
		w := send(path, true)
		if w.Code != http.StatusInternalServerError || !strings.HasPrefix(w.Body.String(), `{"error":"server_error"`) || strings.Contains(w.Body.String(), "a secret") {
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
		if w := send(path, false); w.Code != http.StatusBadRequest {
			t.Errorf("%s, the next request: %d %s", path, w.Code, w.Body)
		}
	}
	panics.WantTimes(t, safe.Handler, "requestBody.Read", len(paths))
}
