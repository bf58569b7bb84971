package api_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"patchbay/internal/connectors"
	"patchbay/internal/mcp/mcptest"
)

// signIn gives a member a session and returns its cookie.
func (w *world) signIn(t *testing.T, user connectors.UserID) *http.Cookie {
	t.Helper()
	rec := httptest.NewRecorder()
	w.auth.Sessions().LoadAndSave(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if err := w.auth.StartSession(r.Context(), user); err != nil {
			t.Error(err)
		}
	})).ServeHTTP(rec, httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/login", nil))
	cookies := rec.Result().Cookies()
	if len(cookies) != 1 {
		t.Fatalf("cookies: %v", cookies)
	}
	return cookies[0]
}

func TestASessionServesWhereAKeyDoes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	upstream := mcptest.Start(t, mcptest.Script{Tools: []string{mcptest.Tool("search")}})
	c := w.Connector(t, at(upstream.URL))
	cookie := w.signIn(t, w.Member(t, connectors.RoleMember).UserID)
	send := func(method, path string) reply {
		r := httptest.NewRequestWithContext(t.Context(), method, path, nil)
		r.Header.Set("Accept", "application/json")
		r.AddCookie(cookie)
		return w.serve(t, r)
	}
	for _, path := range []string{"/api/v1/connectors/" + c.Slug + "/sync_tools", "/connectors/" + c.Slug + "/sync_tools"} {
		if run := send(http.MethodPost, path).want(http.StatusOK); run["trigger"] != "manual" {
			t.Errorf("%v", run)
		}
	}
	send(http.MethodGet, "/api/v1/connectors").want(http.StatusOK)
	send(http.MethodGet, "/api/v1/members").problem(http.StatusForbidden, "denied")

	both := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/api/v1/connectors", nil)
	both.AddCookie(cookie)
	both.Header.Set("Authorization", "Bearer pb_key_garbage")
	w.serve(t, both).problem(http.StatusUnauthorized, "unauthenticated")
}
