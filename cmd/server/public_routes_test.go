package main

import (
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/go-chi/chi/v5"
	"github.com/google/uuid"

	"patchbay/db"
	"patchbay/internal/auth"
	"patchbay/internal/catalog"
	"patchbay/internal/config"
	"patchbay/internal/connectors"
	"patchbay/internal/installation"
	"patchbay/internal/secret"
	"patchbay/internal/telemetry"
	"patchbay/internal/testing/pgtest"
)

// publicStatus are the statuses of the routes without authentication. A new route needs authentication or a row
// here.
var publicStatus = map[string]int{
	"GET /healthz":                    http.StatusOK,
	"GET /readyz":                     http.StatusOK,
	"GET /static/*":                   http.StatusNotFound, // there is no such file
	"GET /openapi.json":               http.StatusOK,
	"HEAD /openapi.json":              http.StatusOK,
	"GET /oauth/client-metadata.json": http.StatusOK,
	"GET /oauth/callback":             http.StatusBadRequest, // without a state
	"POST /oauth/token":               http.StatusBadRequest, // without parameters
	"POST /oauth/register":            http.StatusBadRequest,
	"POST /oauth/revoke":              http.StatusBadRequest,
	"GET /connect/done":               http.StatusOK,

	"GET /.well-known/oauth-authorization-server": http.StatusOK,

	"GET /oauth/issuers/{tenant}/.well-known/openid-configuration": http.StatusNotFound, // there is no such organisation
	"GET /oauth/issuers/{tenant}/jwks.json":                        http.StatusNotFound,

	"GET /scim/v2/*":    http.StatusUnauthorized,
	"POST /scim/v2/*":   http.StatusUnauthorized,
	"PUT /scim/v2/*":    http.StatusUnauthorized,
	"PATCH /scim/v2/*":  http.StatusUnauthorized,
	"DELETE /scim/v2/*": http.StatusUnauthorized,

	"GET /registry/*":     http.StatusNotFound,
	"OPTIONS /registry/*": http.StatusNoContent,

	"GET /connect/{token}":    http.StatusNotFound,
	"POST /connect/{token}":   http.StatusNotFound,
	"GET /login":              http.StatusOK,
	"POST /login":             http.StatusUnauthorized,
	"POST /login/sso":         http.StatusUnprocessableEntity, // without an address
	"GET /login/sso/callback": http.StatusForbidden,           // without a state of this browser
	"GET /setup":              http.StatusNotFound,
	"POST /setup":             http.StatusNotFound,
	"GET /forgot":             http.StatusNotFound, // without an SMTP server
	"POST /forgot":            http.StatusNotFound,
	"GET /reset":              http.StatusNotFound, // without a link
	"POST /reset":             http.StatusNotFound,
	"GET /setup/invitation":   http.StatusNotFound,
	"POST /setup/invitation":  http.StatusNotFound,
	"POST /language":          http.StatusSeeOther,
}

// newApp builds the program over its own database, without background work.
func newApp(t *testing.T) *app {
	t.Helper()
	return newAppAt(t, &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 8080})
}

// newAppAt is newApp with a listener's address.
func newAppAt(t *testing.T, addr net.Addr, settings ...func(*config.Server)) *app {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	kek, err := secret.NewKEK()
	if err != nil {
		t.Fatal(err)
	}
	d, err := installation.Open(t.Context(), installation.Options{
		Route: db.Route{URL: pgtest.URL(t), Pooler: db.PoolerNone}, Keys: installation.NewLocalKeySource(kek), Log: log,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.Close)
	offered, err := catalog.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	s := &serverRun{server: config.Server{Addr: addr.String(), Egress: config.EgressLocal}, log: log, catalog: offered, instance: uuid.New(), stdout: io.Discard}
	for _, set := range settings {
		set(&s.server)
	}
	h, err := s.buildApp(d, addr, telemetry.NewMetrics(version()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { h.agents.history.Stop(context.WithoutCancel(t.Context())) })
	return h
}

// handlers are the root handlers of apps: to build one takes a hundred times as long as to answer a request.
var handlers sync.Map

// addresses counts the clients: each request comes from another, so that the limit of failures refuses none.
var addresses atomic.Uint32

// sendRequest sends a request to the program, as from its own pages.
func (h *app) sendRequest(t *testing.T, method, path, authorization string) *http.Response {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), method, "http://127.0.0.1:8080"+path, nil)
	r.Header.Set("Origin", "http://127.0.0.1:8080")
	if authorization != "" {
		r.Header.Set("Authorization", authorization)
	}
	if strings.HasPrefix(path, "/mcp") {
		r.Header.Set("Accept", "application/json, text/event-stream")
	}
	n := addresses.Add(1)
	r.RemoteAddr = netip.AddrPortFrom(netip.AddrFrom4([4]byte{198, 18 + byte(n>>16), byte(n >> 8), byte(n)}), 1234).String()
	build, _ := handlers.LoadOrStore(h, sync.OnceValue(h.rootHandler))
	w := httptest.NewRecorder()
	build.(func() http.Handler)().ServeHTTP(w, r)
	return w.Result()
}

// listRoutes returns the routes but the agents', as "METHOD pattern".
func (h *app) listRoutes(t *testing.T) []string {
	t.Helper()
	var found []string
	err := chi.Walk(h.newRouter().(chi.Routes), func(method, pattern string, _ http.Handler, _ ...func(http.Handler) http.Handler) error {
		found = append(found, method+" "+pattern)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(found) < 200 {
		t.Fatalf("only %d routes: %q", len(found), found)
	}
	return found
}

// fillPattern replaces a pattern's parameters by a name.
func fillPattern(pattern string) string {
	for strings.Contains(pattern, "{") {
		start, end := strings.Index(pattern, "{"), strings.Index(pattern, "}")
		pattern = pattern[:start] + "nothing" + pattern[end+1:]
	}
	return strings.TrimSuffix(pattern, "*")
}

// asksForSignIn reports whether a response asks for authentication: programs for a key, people for a sign-in.
func asksForSignIn(res *http.Response) bool {
	return res.StatusCode == http.StatusUnauthorized && res.Header.Get("WWW-Authenticate") != "" ||
		res.StatusCode == http.StatusSeeOther && strings.HasPrefix(res.Header.Get("Location"), "/login")
}

func TestRoutes_NonPublicNeedAuthentication(t *testing.T) {
	t.Parallel()
	h := newApp(t)
	mounted := h.listRoutes(t)
	for _, route := range mounted {
		method, pattern, _ := strings.Cut(route, " ")
		res := h.sendRequest(t, method, fillPattern(pattern), "")
		switch want, ok := publicStatus[route]; {
		case strings.HasSuffix(pattern, "/*") && method != http.MethodGet: // files are served for any method
		case ok && res.StatusCode != want:
			t.Errorf("%s answers %d, want %d", route, res.StatusCode, want)
		case !ok && !asksForSignIn(res):
			t.Errorf("%s answers %d to whoever comes, and has no row in the table of what is public", route, res.StatusCode)
		}
		for _, wrong := range []string{"Bearer pb_key_garbage", "Bearer pb_agent_garbage", "Basic YTpi"} {
			if _, ok := publicStatus[route]; !ok && !asksForSignIn(h.sendRequest(t, method, fillPattern(pattern), wrong)) && !strings.HasSuffix(pattern, "/*") {
				t.Errorf("%s lets %q in", route, wrong)
			}
		}
	}
	for route := range publicStatus {
		if !slices.Contains(mounted, route) {
			t.Errorf("%s has a row, and is not mounted", route)
		}
	}
}

func TestRoutes_OtherMethodsOpenNothing(t *testing.T) {
	t.Parallel()
	h := newApp(t)
	mounted := h.listRoutes(t)
	patterns := map[string]bool{}
	for _, route := range mounted {
		_, pattern, _ := strings.Cut(route, " ")
		patterns[pattern] = true
	}
	for pattern := range patterns {
		for _, method := range []string{"GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT"} {
			if slices.Contains(mounted, method+" "+pattern) || strings.HasSuffix(pattern, "/*") {
				continue
			}
			if res := h.sendRequest(t, method, fillPattern(pattern), ""); !asksForSignIn(res) && res.StatusCode != http.StatusNotFound && res.StatusCode != http.StatusMethodNotAllowed {
				t.Errorf("%s %s answers %d", method, pattern, res.StatusCode)
			}
		}
	}
}

func TestGateway_TakesOnlyAgentTokens(t *testing.T) {
	t.Parallel()
	h := newApp(t)
	tenant, err := h.database.Store.System().TenantByRef(t.Context(), installation.FirstTenant)
	if err != nil {
		t.Fatal(err)
	}
	_, key, err := h.auth.IssueKey(t.Context(), auth.Operator(tenant), auth.KeyRequest{Name: "test", Role: connectors.RoleOwner})
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/mcp", "/mcp/", "/mcp/nothing", "/mcp/nothing/more"} {
		for _, method := range []string{"GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "HEAD"} {
			for _, wrong := range []string{"", "Bearer " + key.Reveal(), "Bearer pb_agent_garbage", "Basic YTpi"} {
				if res := h.sendRequest(t, method, path, wrong); !asksForSignIn(res) {
					t.Errorf("%s %s with %.12q answers %d", method, path, wrong, res.StatusCode)
				}
			}
		}
	}
	if res := h.sendRequest(t, http.MethodPost, "/mcp/admin", "Bearer "+key.Reveal()); res.StatusCode == http.StatusUnauthorized {
		t.Error("the door for assistants does not take a key")
	}
	for _, path := range []string{"/.well-known/oauth-protected-resource", "/.well-known/oauth-protected-resource/mcp"} {
		if res := h.sendRequest(t, http.MethodGet, path, ""); res.StatusCode != http.StatusOK {
			t.Errorf("%s answers %d", path, res.StatusCode)
		}
	}
}
