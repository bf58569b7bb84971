package api_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/mcp/mcptest"
)

// signIn creates a session of a member and returns its cookie.
func (w *world) signIn(t *testing.T, user connectors.UserID) *http.Cookie {
	t.Helper()
	rec := httptest.NewRecorder()
	w.auth.Sessions().LoadAndSave(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if err := w.auth.StartSession(r.Context(), user, auth.NewBrowser(r)); err != nil {
			t.Error(err)
		}
	})).ServeHTTP(rec, httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/login", nil))
	cookies := rec.Result().Cookies()
	if len(cookies) != 1 {
		t.Fatalf("cookies: %v", cookies)
	}
	return cookies[0]
}

func TestAnOwnersKeySignsAMemberOut(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	m := w.Member(t, connectors.RoleAdmin)
	cookie := w.signIn(t, m.UserID)
	ask := func() reply {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/api/v1/connectors", nil)
		r.AddCookie(cookie)
		return w.serve(t, r)
	}
	ask().want(http.StatusOK)
	w.call(t, w.createKey(t, connectors.RoleOwner), http.MethodPost, "/api/v1/members/"+m.UserID.String()+"/sign_out", nil).want(http.StatusNoContent)
	ask().problem(http.StatusUnauthorized, "unauthenticated")
}

func TestSession_RequiredSecondFactorComesFirst(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	m := w.Member(t, connectors.RoleMember)
	cookie, key := w.signIn(t, m.UserID), w.createKey(t, connectors.RoleOwner)
	after := w.call(t, key, http.MethodPatch, "/api/v1/tenant", `{"second_factor_required": true}`).want(http.StatusOK)
	if after["second_factor_required"] != true {
		t.Errorf("%v", after)
	}
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/api/v1/connectors", nil)
	r.AddCookie(cookie)
	w.serve(t, r).problem(http.StatusForbidden, "second-factor-required")
	w.call(t, key, http.MethodGet, "/api/v1/connectors", nil).want(http.StatusOK)
	w.SecondFactor(t, m.UserID)
	path := "/api/v1/members/" + m.UserID.String()
	if got := w.call(t, key, http.MethodGet, path, nil).want(http.StatusOK); got["second_factor"] != true {
		t.Errorf("%v", got)
	}
	w.call(t, key, http.MethodDelete, path+"/second_factor", nil).want(http.StatusNoContent)
	w.call(t, key, http.MethodDelete, path+"/second_factor", nil).problem(http.StatusNotFound, "not-found")
}

func TestASessionServesWhereAKeyDoes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	upstream := mcptest.Start(t, mcptest.Script{Tools: []string{mcptest.Tool("search")}})
	c := w.Connector(t, withURL(upstream.URL))
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

// createSession creates a member with a session.
func (w *world) createSession(t *testing.T) (auth.Actor, connectors.SessionID) {
	t.Helper()
	m := w.Member(t, connectors.RoleMember)
	w.signIn(t, m.UserID)
	a := auth.Actor{Kind: auth.KindPerson, Tenant: w.newOperator(t).Tenant, Role: m.Role, UserID: &m.UserID, Name: m.Name, Email: m.Email}
	all, err := w.auth.ListSessions(t.Context(), a)
	if err != nil || len(all) != 1 {
		t.Fatalf("%d sessions (%v)", len(all), err)
	}
	return a, all[0].ID
}
