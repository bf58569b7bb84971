package api_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/alexedwards/argon2id"
	"github.com/go-chi/chi/v5"

	"patchbay/internal/agentview"
	"patchbay/internal/api"
	"patchbay/internal/auditstreams"
	"patchbay/internal/auth"
	"patchbay/internal/calllog"
	"patchbay/internal/connect"
	"patchbay/internal/connectors"
	"patchbay/internal/credentialexport"
	"patchbay/internal/credentials"
	"patchbay/internal/manage"
	"patchbay/internal/mcp"
	"patchbay/internal/mcp/mcptest"
	"patchbay/internal/oauth"
	"patchbay/internal/publicregistry"
	"patchbay/internal/respond"
	"patchbay/internal/safehttp"
	"patchbay/internal/sso"
	"patchbay/internal/testing/fixture"
	"patchbay/internal/toolcall"
	"patchbay/internal/toolsync"
	"patchbay/internal/webhooks"
)

// world is a fixture with an API.
type world struct {
	*fixture.World
	api     *api.Handler
	auth    *auth.Service
	syncer  *toolsync.Syncer
	connect *connect.Broker
	access  *agentview.Cache
	caller  *toolcall.Executor
	handler http.Handler
	log     *logbook
	account *oauthAccount // nil: no OAuth account
}

// baseURL is the configured public address.
const baseURL = "https://patchbay.example.com"

// programs are the allowed commands.
var programs = connectors.AllowedCommands{{Path: mcptest.Shell, Args: mcptest.Program, Dirs: []string{"/tmp"}, Env: []string{"GREETING", "A", "B"}}}

func newWorld(t *testing.T, opts ...func(*api.Options)) *world {
	t.Helper()
	w := &world{World: fixture.New(t), log: &logbook{}}
	log := slog.New(slog.NewJSONHandler(w.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	egress := safehttp.New(safehttp.Options{Mode: safehttp.Local})
	w.auth = auth.New(auth.Options{
		Store: w.St, Log: log,
		PasswordCost: &argon2id.Params{Memory: 64, Iterations: 1, Parallelism: 1, SaltLength: 16, KeyLength: 32},
	})
	authorization := &oauth.Client{HTTP: egress.Client(), CheckURL: egress.CheckURL}
	resolver := credentials.NewRefreshing(credentials.Options{Store: w.St, OAuth: authorization})
	w.syncer = toolsync.New(toolsync.Options{
		Store: w.St, Credentials: resolver, Egress: egress, HTTP: egress.Client(),
		Version: "test", Instance: w.Instance, Log: log,
		Programs: toolsync.CommandPolicy{Allowed: programs, Env: []string{"PATH=/usr/local/bin:/usr/bin:/bin"}},
	})
	w.connect = connect.New(connect.Options{
		Store: w.St, OAuth: authorization, Dialer: &mcp.Dialer{HTTP: egress.Client(), Version: "test"}, Log: log, BaseURL: baseURL,
	})
	w.access = agentview.New(agentview.Options{Store: w.St, Log: log})
	past := calllog.New(calllog.Options{Store: w.St, Instance: w.Instance, Log: log})
	t.Cleanup(func() { past.Stop(context.WithoutCancel(t.Context())) })
	w.caller = toolcall.New(toolcall.Options{
		Store: w.St, Access: w.access, Credentials: resolver, Dialer: &mcp.Dialer{HTTP: egress.Client(), Version: "test"},
		Target: w.syncer.Target, History: past, Instance: w.Instance, BaseURL: baseURL, Log: log,
	})
	options := api.Options{
		Store: w.St, Registry: manage.New(w.St, egress, programs...).WithCatalog(builtinCatalog(t)), Syncer: w.syncer, Connect: w.connect,
		CredentialExport: credentialexport.New(credentialexport.Options{Store: w.St, Credentials: resolver, Log: log}),
		Access:           w.access, Calls: w.caller,
		SSO:          sso.New(sso.Options{Store: w.St, HTTP: egress.Client(), CheckURL: egress.CheckURL, BaseURL: baseURL, Log: log}),
		Programs:     newAuthServer(w, egress),
		Webhooks:     webhooks.New(webhooks.Options{Store: w.St, HTTP: egress.Client(), CheckURL: egress.CheckURL, BaseURL: baseURL, Log: log}),
		SCIM:         newSCIM(t, w.St),
		AuditStreams: auditstreams.New(auditstreams.Options{Store: w.St, Egress: egress, Log: log}),
		Registries:   publicregistry.New(publicregistry.Options{Store: w.St, BaseURL: parseURL(t, baseURL), Log: log}),
		Auth:         w.auth, Respond: respond.New(log, w.auth.Sessions()), BaseURL: baseURL, Version: "test",
	}
	for _, opt := range opts {
		opt(&options)
	}
	var err error
	w.api, err = api.New(options)
	if err != nil {
		t.Fatal(err)
	}
	router := chi.NewMux()
	router.Use(w.auth.Sessions().LoadAndSave)
	w.api.Mount(router)
	router.Method(http.MethodPost, "/connectors/{id}/sync_tools", w.api.SyncTools())
	w.handler = router
	return w
}

// createKey creates an API key of w.Tenant.
func (w *world) createKey(t *testing.T, role connectors.Role) string {
	t.Helper()
	return w.createKeyIn(t, w.Tenant, role)
}

func (w *world) createKeyIn(t *testing.T, tenant connectors.TenantID, role connectors.Role) string {
	t.Helper()
	self, err := w.St.Tenant(tenant).Self(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	_, text, err := w.auth.IssueKey(t.Context(), auth.Operator(self), auth.KeyRequest{Name: "test", Role: role})
	if err != nil {
		t.Fatal(err)
	}
	return text.Reveal()
}

// reply is a response of the API.
type reply struct {
	t      *testing.T
	status int
	header http.Header
	body   []byte
}

// call sends a request. A string body is sent as it is, others as JSON; nil: none.
func (w *world) call(t *testing.T, key, method, path string, body any) reply {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), method, path, bodyReader(t, body))
	r.Header.Set("Content-Type", "application/json")
	if key != "" {
		r.Header.Set("Authorization", "Bearer "+key)
	}
	return w.serve(t, r)
}

func (w *world) serve(t *testing.T, r *http.Request) reply {
	t.Helper()
	rec := httptest.NewRecorder()
	w.handler.ServeHTTP(rec, r)
	return reply{t: t, status: rec.Code, header: rec.Header(), body: rec.Body.Bytes()}
}

func bodyReader(t *testing.T, body any) io.Reader {
	t.Helper()
	switch body := body.(type) {
	case nil:
		return nil
	case string:
		return strings.NewReader(body)
	default:
		raw, err := json.Marshal(body)
		if err != nil {
			t.Fatal(err)
		}
		return bytes.NewReader(raw)
	}
}

// want fails the test unless the response has the status, and returns its document.
func (r reply) want(status int) map[string]any {
	r.t.Helper()
	if r.status != status {
		r.t.Fatalf("status %d, want %d: %s", r.status, status, r.body)
	}
	if len(r.body) == 0 {
		return nil
	}
	var doc map[string]any
	if err := json.Unmarshal(r.body, &doc); err != nil {
		r.t.Fatalf("%v: %s", err, r.body)
	}
	return doc
}

// problem fails the test unless the response is a problem of that status and type.
func (r reply) problem(status int, typ string) map[string]any {
	r.t.Helper()
	doc := r.want(status)
	if got := r.header.Get("Content-Type"); got != "application/problem+json" {
		r.t.Errorf("content type %q", got)
	}
	if got := doc["type"]; got != "/problems/"+typ {
		r.t.Errorf("type %v, want /problems/%s: %s", got, typ, r.body)
	}
	if doc["status"] != float64(status) || doc["title"] == "" || doc["detail"] == "" {
		r.t.Errorf("not a whole problem: %s", r.body)
	}
	return doc
}

// locations are the fields with errors in a problem.
func (r reply) locations() []string {
	r.t.Helper()
	var doc struct {
		Errors []struct{ Location, Message string }
	}
	if err := json.Unmarshal(r.body, &doc); err != nil {
		r.t.Fatalf("%v: %s", err, r.body)
	}
	var at []string
	for _, e := range doc.Errors {
		if e.Message == "" {
			r.t.Errorf("no message at %s", e.Location)
		}
		at = append(at, e.Location)
	}
	return at
}

func isTime(v any) bool {
	s, _ := v.(string)
	at, err := time.Parse(time.RFC3339, s)
	return err == nil && strings.HasSuffix(s, "Z") && !at.IsZero()
}

func (w *world) connectorID(t *testing.T, id any) connectors.ConnectorID {
	t.Helper()
	u, ok := connectors.Ref(id.(string)).UUID()
	if !ok {
		t.Fatalf("no id: %v", id)
	}
	return connectors.ConnectorID{UUID: u}
}
