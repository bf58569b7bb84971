package mcpadmin_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"patchbay/internal/api"
	"patchbay/internal/connectors"
	"patchbay/internal/mcpadmin"
	"patchbay/internal/testing/fixture"
)

// seedTool creates a connector with a tool, and an agent with a grant.
func (w *testEnv) seedTool(t *testing.T) (connectors.Connector, connectors.Agent) {
	t.Helper()
	c := w.Connector(t, func(d *connectors.Draft) { d.Name, d.Slug = "Linear", "linear" })
	w.Synced(t, c.ID, "search", "create_issue")
	a := w.Agent(t, func(a *connectors.Agent) { a.Name, a.Slug = "Support", "support" })
	w.Grant(t, a.ID, c.ID, fixture.Named("search"))
	return c, a
}

// tryTool calls a tool and returns what is wrong with its result; a refusal is valid.
func (a *mcpClient) tryTool(t *testing.T, tool string, arguments map[string]any) string {
	t.Helper()
	got, err := a.CallTool(t.Context(), &sdk.CallToolParams{Name: tool, Arguments: arguments})
	switch {
	case err != nil:
		return err.Error()
	case got.IsError && got.Meta["patchbay/reason"] == nil:
		return "refused without a reason: " + resultText(got)
	case got.IsError:
		return ""
	}
	for listed, err := range a.Tools(t.Context(), nil) {
		if err != nil {
			return err.Error()
		}
		if listed.Name == tool {
			return schemaError(listed.OutputSchema, got.StructuredContent)
		}
	}
	return "it is not listed"
}

// schemaError returns how a value violates a schema.
func schemaError(schema, value any) string {
	raw, err := json.Marshal(schema)
	if err != nil {
		return err.Error()
	}
	var s jsonschema.Schema
	if err := json.Unmarshal(raw, &s); err != nil {
		return err.Error()
	}
	resolved, err := s.Resolve(nil)
	if err == nil {
		err = resolved.Validate(value)
	}
	if err != nil {
		return err.Error()
	}
	return ""
}

func TestTools_Read(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.seedTool(t)
	for _, revision := range []string{newest, before, "2025-06-18", "2025-03-26"} {
		t.Run(revision, func(t *testing.T) {
			t.Parallel()
			a := w.connect(t, w.newAPIKey(t, w.Tenant, connectors.RoleViewer), revision, "")
			var found struct {
				Items []struct {
					Slug, Status, Page string
					Untrusted          struct{ Tools []string }
				}
			}
			a.callTool(t, "list_connectors", nil, &found)
			if got := fmt.Sprint(found.Items); got != "[{linear ok "+w.url+"/connectors/linear {[create_issue search]}}]" {
				t.Errorf("connectors %s", got)
			}
			var agents struct {
				Items []struct {
					Slug   string
					Grants []struct {
						Connector string
						Untrusted struct{ Tools []string }
					}
				}
			}
			a.callTool(t, "list_agents", nil, &agents)
			if got := fmt.Sprint(agents.Items); got != "[{support [{linear {[search]}}]}]" {
				t.Errorf("agents %s", got)
			}
			var why struct {
				MayCall bool `json:"may_call"`
				State   string
			}
			a.callTool(t, "explain_access", map[string]any{"agent": "support", "tool": "mcp_linear__create_issue"}, &why)
			if why.MayCall || why.State != "not_granted" {
				t.Errorf("access %+v", why)
			}
		})
	}
}

func TestLists_HavePagesAndBounds(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for range 3 {
		w.Connector(t)
	}
	a := w.connect(t, w.newAPIKey(t, w.Tenant, connectors.RoleViewer), newest, "")
	var seen []string
	cursor := ""
	for {
		var got struct {
			Items []struct{ Slug string }
			Next  *string `json:"next_cursor"`
		}
		arguments := map[string]any{"limit": 2}
		if cursor != "" {
			arguments["cursor"] = cursor
		}
		a.callTool(t, "list_connectors", arguments, &got)
		for _, c := range got.Items {
			seen = append(seen, c.Slug)
		}
		if got.Next == nil {
			break
		}
		cursor = *got.Next
	}
	if len(seen) != 3 {
		t.Errorf("the pages have %q", seen)
	}
	if code, _ := a.callRefused(t, "list_connectors", map[string]any{"cursor": "invented"}); code != "malformed" {
		t.Errorf("an invented cursor is refused with %s", code)
	}
}

func TestTools_InvalidArgumentsAreRPCError(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.connect(t, w.newAPIKey(t, w.Tenant, connectors.RoleOwner), newest, "")
	for name, test := range map[string]struct {
		tool      string
		arguments any
		says      string
	}{
		"too many":          {"list_connectors", map[string]any{"limit": 101}, "at most 100"},
		"another word":      {"list_connectors", map[string]any{"status": "fine"}, "one of"},
		"a member too much": {"list_connectors", map[string]any{"filter": "a"}, `"filter" isn't a parameter`},
		"none":              {"explain_access", map[string]any{"agent": "a"}, `"tool" is missing`},
		"an empty one":      {"explain_access", map[string]any{"agent": "", "tool": "a"}, "at least 1 character"},
		"no tool of ours":   {"nothing", nil, "No tool named"},
	} {
		if says := a.callInvalid(t, test.tool, test.arguments); !strings.Contains(says, test.says) {
			t.Errorf("%s: %s", name, says)
		}
	}
	if requests := w.takeRequests(); len(requests) > 0 {
		t.Errorf("the API was asked %q", requests)
	}
}

func TestTools_OtherTenantSeesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.seedTool(t)
	stranger := w.connect(t, w.newAPIKey(t, w.Other, connectors.RoleOwner), newest, "")
	for _, tool := range []string{"list_connectors", "list_agents", "list_tool_changes", "list_tool_calls"} {
		var got struct{ Items []any }
		stranger.callTool(t, tool, nil, &got)
		if len(got.Items) != 0 {
			t.Errorf("%s has %v", tool, got.Items)
		}
	}
	mine := w.connect(t, w.newAPIKey(t, w.Tenant, connectors.RoleOwner), newest, "")
	for agent, a := range map[string]*mcpClient{"support": stranger, "nothing": mine} {
		if code, says := a.callRefused(t, "explain_access", map[string]any{"agent": agent, "tool": "mcp_linear__search"}); code != "not-found" {
			t.Errorf("%s: %s, %s", agent, code, says)
		}
	}
}

func TestUnauthenticated_IsRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, agent := w.seedTool(t)
	for name, authorization := range map[string]string{
		"nothing": "", "an agent": "Bearer " + w.Token(t, agent.ID).Reveal(), "garbage": "Bearer pb_key_garbage", "a password": "Basic YTpi",
	} {
		for _, method := range []string{http.MethodPost, http.MethodGet, http.MethodDelete} {
			r := httptest.NewRequestWithContext(t.Context(), method, w.url+mcpadmin.Path, strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`))
			r.Header.Set("Accept", "application/json, text/event-stream")
			if authorization != "" {
				r.Header.Set("Authorization", authorization)
			}
			got := httptest.NewRecorder()
			w.door.ServeHTTP(got, r)
			if got.Code != http.StatusUnauthorized || got.Header().Get("WWW-Authenticate") == "" {
				t.Errorf("%s %s: %d %s", method, name, got.Code, got.Body)
			}
		}
	}
}

func TestOrigin_ForeignIsRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	key := w.newAPIKey(t, w.Tenant, connectors.RoleOwner)
	for name, test := range map[string]struct {
		host, origin string
		status       int
	}{
		"a program":        {"", "", http.StatusOK},
		"a page of ours":   {"", w.url, http.StatusOK},
		"another site":     {"", "https://evil.example", http.StatusForbidden},
		"another name":     {"evil.example", "", http.StatusForbidden},
		"nothing":          {"", "null", http.StatusForbidden},
		"the name of both": {"evil.example", "http://evil.example", http.StatusForbidden},
	} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, w.url+mcpadmin.Path, strings.NewReader(
			`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"a","version":"1"}}}`))
		r.Header.Set("Accept", "application/json, text/event-stream")
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Authorization", "Bearer "+key)
		if test.origin != "" {
			r.Header.Set("Origin", test.origin)
		}
		if test.host != "" {
			r.Host = test.host
		}
		got := httptest.NewRecorder()
		w.door.ServeHTTP(got, r)
		if got.Code != test.status {
			t.Errorf("%s: %d %s", name, got.Code, got.Body)
		}
	}
}

func TestSession_BoundToKeyInAnyProcess(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.seedTool(t)
	mine, others := w.newAPIKey(t, w.Tenant, connectors.RoleViewer), w.newAPIKey(t, w.Tenant, connectors.RoleViewer)
	session := w.connect(t, mine, before, "").ID()
	first := w.door
	w.rebuild(t)
	if w.door == first {
		t.Fatal("it is the same")
	}
	for key, want := range map[string]int{mine: http.StatusOK, others: http.StatusNotFound} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, w.url+mcpadmin.Path, strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`))
		for name, value := range map[string]string{
			"Accept": "application/json, text/event-stream", "Content-Type": "application/json", "Authorization": "Bearer " + key,
			"Mcp-Session-Id": session, "MCP-Protocol-Version": before,
		} {
			r.Header.Set(name, value)
		}
		got := httptest.NewRecorder()
		w.door.ServeHTTP(got, r)
		if got.Code != want {
			t.Errorf("%d %s, want %d", got.Code, got.Body, want)
		}
	}
}

func TestRateLimit_HasRetryAfter(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(o *api.Options) { o.Rates = api.Rates{PerCaller: 1} })
	a := w.connect(t, w.newAPIKey(t, w.Tenant, connectors.RoleViewer), newest, "")
	for range 20 {
		got, err := a.CallTool(t.Context(), &sdk.CallToolParams{Name: "list_agents"})
		if err != nil {
			if _, isRPC := errors.AsType[*jsonrpc.Error](err); isRPC {
				t.Fatal(err)
			}
			return // the HTTP request was refused: 429
		}
		if got.IsError {
			why := got.Meta["patchbay/reason"].(map[string]any)
			if why["code"] != "rate-limited" || why["retry_after_s"] == nil {
				t.Errorf("refused with %v", why)
			}
			return
		}
	}
	t.Error("nothing was refused")
}
