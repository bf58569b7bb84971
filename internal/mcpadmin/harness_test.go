package mcpadmin_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/go-chi/chi/v5"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"patchbay/internal/agentview"
	"patchbay/internal/api"
	"patchbay/internal/auth"
	"patchbay/internal/calllog"
	"patchbay/internal/connect"
	"patchbay/internal/connectors"
	"patchbay/internal/credentialexport"
	"patchbay/internal/credentials"
	"patchbay/internal/manage"
	"patchbay/internal/mcp"
	"patchbay/internal/mcpadmin"
	"patchbay/internal/middleware"
	"patchbay/internal/oauth"
	"patchbay/internal/respond"
	"patchbay/internal/safehttp"
	"patchbay/internal/sso"
	"patchbay/internal/testing/fixture"
	"patchbay/internal/toolcall"
	"patchbay/internal/toolsync"
	"patchbay/internal/webhooks"
)

// testEnv is a fixture with the server and the JSON API.
type testEnv struct {
	*fixture.World
	auth *auth.Service
	api  *api.Handler
	door *mcpadmin.Handler
	url  string // of the server
	http *http.Client

	prove func(*http.Request) // adds the proof of a bound token; nil: tokens are plain

	mu       sync.Mutex // guards requests
	requests []string   // to the API, "METHOD /path"
}

func newWorld(t *testing.T, opts ...func(*api.Options)) *testEnv {
	t.Helper()
	w := &testEnv{World: fixture.New(t)}
	router := chi.NewMux()
	server := httptest.NewServer(router)
	t.Cleanup(server.Close)
	w.url, w.http = server.URL, server.Client()
	w.buildAPI(t, opts)
	w.rebuild(t)
	router.Use(middleware.RequestID(nil))
	router.HandleFunc(mcpadmin.Path, func(rw http.ResponseWriter, r *http.Request) { w.door.ServeHTTP(rw, r) })
	router.Group(func(r chi.Router) {
		r.Use(w.auth.Sessions().LoadAndSave)
		w.api.Mount(r)
	})
	return w
}

// rebuild makes the handler anew, as another process would.
func (w *testEnv) rebuild(t *testing.T, opts ...func(*mcpadmin.Options)) {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	base, err := url.Parse(w.url)
	if err != nil {
		t.Fatal(err)
	}
	o := mcpadmin.Options{
		API: w.recordRequests(w.api.Inside()), Throttled: w.api.Throttled, Identify: w.auth.IdentifyBearer, Respond: respond.New(log, w.auth.Sessions()),
		Store: w.St, BaseURL: base, Version: "test", Log: log,
	}
	for _, opt := range opts {
		opt(&o)
	}
	if w.door, err = mcpadmin.New(o); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.door.Shut)
}

func (w *testEnv) buildAPI(t *testing.T, opts []func(*api.Options)) {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	egress := safehttp.New(safehttp.Options{Mode: safehttp.Local})
	w.auth = auth.New(auth.Options{Store: w.St, Log: log, BaseURL: w.url})
	authorization := &oauth.Client{HTTP: egress.Client(), CheckURL: egress.CheckURL}
	dialer := &mcp.Dialer{HTTP: egress.Client(), Version: "test"}
	resolver := credentials.NewRefreshing(credentials.Options{Store: w.St, OAuth: authorization})
	syncer := toolsync.New(toolsync.Options{
		Store: w.St, Credentials: resolver, Egress: egress, HTTP: egress.Client(), Version: "test", Instance: w.Instance, Log: log,
	})
	keeper := agentview.New(agentview.Options{Store: w.St, Log: log})
	past := calllog.New(calllog.Options{Store: w.St, Instance: w.Instance, Log: log})
	t.Cleanup(func() { past.Stop(context.WithoutCancel(t.Context())) })
	o := api.Options{
		Store: w.St, Registry: manage.New(w.St, egress), Syncer: syncer,
		Connect:          connect.New(connect.Options{Store: w.St, OAuth: authorization, Dialer: dialer, Log: log, BaseURL: w.url}),
		CredentialExport: credentialexport.New(credentialexport.Options{Store: w.St, Credentials: resolver, Log: log}),
		Access:           keeper,
		Calls: toolcall.New(toolcall.Options{
			Store: w.St, Access: keeper, Credentials: resolver, Dialer: dialer, Target: syncer.Target, History: past, Instance: w.Instance, BaseURL: w.url, Log: log,
		}),
		SSO:      sso.New(sso.Options{Store: w.St, HTTP: egress.Client(), CheckURL: egress.CheckURL, BaseURL: w.url, Log: log}),
		Webhooks: webhooks.New(webhooks.Options{Store: w.St, HTTP: egress.Client(), CheckURL: egress.CheckURL, BaseURL: w.url, Log: log}),
		Auth:     w.auth, Respond: respond.New(log, w.auth.Sessions()), BaseURL: w.url, Version: "test",
	}
	for _, opt := range opts {
		opt(&o)
	}
	var err error
	if w.api, err = api.New(o); err != nil {
		t.Fatal(err)
	}
}

func (w *testEnv) recordRequests(next http.Handler) http.Handler {
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		w.mu.Lock()
		w.requests = append(w.requests, r.Method+" "+r.URL.Path)
		w.mu.Unlock()
		next.ServeHTTP(rw, r)
	})
}

// takeRequests returns the requests to the API since the last call.
func (w *testEnv) takeRequests() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	taken := w.requests
	w.requests = nil
	return taken
}

func (w *testEnv) newAPIKey(t *testing.T, tenant connectors.TenantID, role connectors.Role) string {
	t.Helper()
	self, err := w.St.Tenant(tenant).Self(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	_, text, err := w.auth.IssueKey(t.Context(), auth.Operator(self), auth.KeyRequest{Name: "assistant", Role: role})
	if err != nil {
		t.Fatal(err)
	}
	return text.Reveal()
}

// bearerTransport sends an API key with each request.
type bearerTransport struct {
	key   string
	next  http.RoundTripper
	prove func(*http.Request)
}

// RoundTrip implements http.RoundTripper.
func (b bearerTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+b.key)
	if b.prove != nil {
		b.prove(r)
	}
	return b.next.RoundTrip(r)
}

// mcpClient is an SDK client in a session.
type mcpClient struct {
	*sdk.ClientSession
	questions []string // elicited questions

	meanwhile func() // runs while a question is open; may be nil
}

// One protocol version of each era.
const (
	newest = "2026-07-28"
	before = "2025-11-25"
)

// connect opens a session. answer is the person's answer to questions; empty: the client has no elicitation.
func (w *testEnv) connect(t *testing.T, key, revision, answer string) *mcpClient {
	t.Helper()
	a := &mcpClient{}
	o := &sdk.ClientOptions{Capabilities: &sdk.ClientCapabilities{}}
	if answer != "" {
		o.ElicitationHandler = func(_ context.Context, r *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
			a.questions = append(a.questions, r.Params.Message)
			if a.meanwhile != nil {
				a.meanwhile()
			}
			return &sdk.ElicitResult{Action: answer, Content: map[string]any{"agree": true}}, nil
		}
	}
	client := sdk.NewClient(&sdk.Implementation{Name: "assistant", Version: "1"}, o)
	way := &sdk.StreamableClientTransport{Endpoint: w.url + mcpadmin.Path, HTTPClient: &http.Client{Transport: bearerTransport{key, w.http.Transport, w.prove}}}
	session, err := client.Connect(t.Context(), way, &sdk.ClientSessionOptions{ProtocolVersion: revision})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = session.Close() })
	a.ClientSession = session
	return a
}

// callTool calls a tool and decodes its structured content into out, which may be nil.
func (a *mcpClient) callTool(t *testing.T, tool string, arguments map[string]any, out any) {
	t.Helper()
	got, err := a.CallTool(t.Context(), &sdk.CallToolParams{Name: tool, Arguments: argumentsObject(arguments)})
	if err != nil {
		t.Fatalf("%s: %v", tool, err)
	}
	if got.IsError {
		t.Fatalf("%s: %s", tool, resultText(got))
	}
	raw, err := json.Marshal(got.StructuredContent)
	if err == nil && out != nil {
		err = json.Unmarshal(raw, out)
	}
	if err != nil {
		t.Fatalf("%s: %v", tool, err)
	}
}

func argumentsObject(arguments map[string]any) map[string]any {
	if arguments == nil {
		return map[string]any{}
	}
	return arguments
}

// callRefused calls a tool that refuses and returns code and text.
func (a *mcpClient) callRefused(t *testing.T, tool string, arguments map[string]any) (code, text string) {
	t.Helper()
	got, err := a.CallTool(t.Context(), &sdk.CallToolParams{Name: tool, Arguments: argumentsObject(arguments)})
	if err != nil {
		t.Fatalf("%s: %v", tool, err)
	}
	if !got.IsError {
		t.Fatalf("%s was not refused: %s", tool, resultText(got))
	}
	why, _ := got.Meta["patchbay/reason"].(map[string]any)
	code, _ = why["code"].(string)
	return code, resultText(got)
}

func (a *mcpClient) callInvalid(t *testing.T, tool string, arguments any) string {
	t.Helper()
	_, err := a.CallTool(t.Context(), &sdk.CallToolParams{Name: tool, Arguments: arguments})
	refused, ok := errors.AsType[*jsonrpc.Error](err)
	if !ok || refused.Code != jsonrpc.CodeInvalidParams {
		t.Fatalf("%s %v: %v", tool, arguments, err)
	}
	return refused.Message
}

func resultText(r *sdk.CallToolResult) string {
	var all []string
	for _, c := range r.Content {
		if c, ok := c.(*sdk.TextContent); ok {
			all = append(all, c.Text)
		}
	}
	return strings.Join(all, "\n")
}

func (a *mcpClient) listNames(t *testing.T) []string {
	t.Helper()
	var names []string
	for tool, err := range a.Tools(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, tool.Name)
	}
	slices.Sort(names)
	return names
}
