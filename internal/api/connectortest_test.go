package api_test

import (
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"patchbay/internal/connectors"
	"patchbay/internal/mcp/mcptest"
)

func TestATestShowsTheServerAndStoresNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	upstream := mcptest.Start(t, mcptest.Script{Bearer: "t-1", Tools: []string{mcptest.Tool("search"), `3`}})
	admin := w.createKey(t, connectors.RoleAdmin)
	got := w.call(t, admin, http.MethodPost, "/api/v1/connectors/test", map[string]any{
		"name": "Tried", "url": upstream.URL, "auth": map[string]any{"type": "bearer", "token": "t-1"},
	}).want(http.StatusOK)
	tools := got["tools"].([]any)
	if got["ok"] != true || got["error"] != nil || len(tools) != 1 || got["server"].(map[string]any)["name"] != "mcptest" {
		t.Fatalf("%v", got)
	}
	if capabilities, _ := got["capabilities"].(map[string]any); capabilities["tools"] == nil {
		t.Errorf("capabilities: %v", got["capabilities"])
	}
	tool := tools[0].(map[string]any)
	if tool["name"] != "search" || tool["title"] != "" || tool["description"] != "Does search." {
		t.Errorf("%v", tool)
	}
	list := w.call(t, admin, http.MethodGet, "/api/v1/connectors", nil).want(http.StatusOK)
	if diff := cmp.Diff([]any{}, list["items"]); diff != "" {
		t.Error(diff)
	}
}

func TestATestAnswersAlsoWhereTheServerFails(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	upstream := mcptest.Start(t, mcptest.Script{Bearer: "t-1"})
	gone := mcptest.Start(t, mcptest.Script{})
	gone.Stop()
	admin := w.createKey(t, connectors.RoleAdmin)
	for url, want := range map[string]map[string]any{
		upstream.URL:                 {"code": "unauthorized", "phase": "initialize", "http_status": 401.0, "rpc_code": nil, "retryable": false},
		gone.URL:                     {"code": "unreachable", "phase": "connect", "http_status": nil, "rpc_code": nil, "retryable": true},
		"http://169.254.169.254/mcp": {"code": "blocked", "phase": "connect", "http_status": nil, "rpc_code": nil, "retryable": false},
	} {
		got := w.call(t, admin, http.MethodPost, "/api/v1/connectors/test",
			map[string]any{"name": "Tried", "url": url, "retry_attempts": 0}).want(http.StatusOK)
		failure := got["error"].(map[string]any)
		if failure["message"] == "" {
			t.Errorf("%s: no message", url)
		}
		delete(failure, "message")
		if diff := cmp.Diff(want, failure); diff != "" || got["ok"] != false {
			t.Errorf("%s: %s", url, diff)
		}
		if diff := cmp.Diff([]any{}, got["tools"]); diff != "" {
			t.Error(diff)
		}
	}
}

func TestConnectorTest_ReadsTheDocumentOfAnHTTPAPI(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	documents := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/openapi.json":
			_, _ = io.WriteString(rw, strings.ReplaceAll(keyDocument, "BASE", "https://api.example.com"))
		case "/secret.json":
			rw.WriteHeader(http.StatusUnauthorized)
		default:
			_, _ = io.WriteString(rw, "Welcome")
		}
		if r.Method != http.MethodGet || r.Header.Get("Authorization") != "" {
			t.Errorf("%s %s with %q", r.Method, r.URL, r.Header.Get("Authorization"))
		}
	}))
	t.Cleanup(documents.Close)
	admin := w.createKey(t, connectors.RoleAdmin)
	try := func(fields map[string]any) map[string]any {
		t.Helper()
		body := map[string]any{"name": "Keys", "kind": "http", "auth": map[string]any{"type": "bearer", "token": "hush"}}
		maps.Copy(body, fields)
		return w.call(t, admin, http.MethodPost, "/api/v1/connectors/test", body).want(http.StatusOK)
	}
	got := try(map[string]any{"document_url": documents.URL + "/openapi.json", "operations": []string{"GET /notes/{id}"}})
	said, _ := got["api"].(map[string]any)
	if got["ok"] != true || got["error"] != nil || said["spec"] != "3.1.0" || said["title"] != "Keys" || said["version"] != "2" || said["operations"] != 1.0 || said["server_url"] != "https://api.example.com/v2" {
		t.Errorf("%v", got)
	}
	if methods := said["sign_in_methods"].([]any); len(methods) != 2 || methods[0].(map[string]any)["header"] != "api_key" {
		t.Errorf("the ways to sign in are %v", methods)
	}
	if tools := got["tools"].([]any); len(tools) != 1 || tools[0].(map[string]any)["name"] != "getNote" {
		t.Errorf("the tools are %v", tools)
	}
	got = try(map[string]any{"endpoints": []map[string]any{{"name": "ping", "url": "https://api.example.com/ping"}}})
	if tools := got["tools"].([]any); got["ok"] != true || got["api"] != nil || len(tools) != 1 || tools[0].(map[string]any)["name"] != "ping" {
		t.Errorf("%v", got)
	}
	gone := httptest.NewServer(nil)
	gone.Close()
	for url, want := range map[string]map[string]any{
		documents.URL + "/secret.json":        {"code": "unauthorized", "phase": "document", "http_status": 401.0, "retryable": false},
		documents.URL + "/page.html":          {"code": "invalid_document", "phase": "", "http_status": nil, "retryable": false},
		gone.URL:                              {"code": "unreachable", "phase": "document", "http_status": nil, "retryable": true},
		"http://169.254.169.254/openapi.json": {"code": "blocked", "phase": "document", "http_status": nil, "retryable": false},
	} {
		got := try(map[string]any{"document_url": url})
		failure := got["error"].(map[string]any)
		if failure["message"] == "" || got["ok"] != false || got["api"] != nil {
			t.Errorf("%s: %v", url, got)
		}
		delete(failure, "message")
		want["rpc_code"] = nil
		if diff := cmp.Diff(want, failure); diff != "" {
			t.Errorf("%s: %s", url, diff)
		}
	}
	for field, fields := range map[string]map[string]any{
		"operation": {"document_url": documents.URL + "/openapi.json", "operations": []string{"GET /none"}},
		"url":       {"url": "http://169.254.169.254/", "document": keyDocument},
		"kind":      {"kind": "mcp", "document_url": documents.URL},
	} {
		body := map[string]any{"name": "Keys", "kind": "http"}
		maps.Copy(body, fields)
		if doc := w.call(t, admin, http.MethodPost, "/api/v1/connectors/test", body).problem(http.StatusUnprocessableEntity, "invalid"); !strings.Contains(fmt.Sprint(doc), field) {
			t.Errorf("%s: %v", field, doc)
		}
	}
	if list := w.call(t, admin, http.MethodGet, "/api/v1/connectors", nil).want(http.StatusOK)["items"].([]any); len(list) > 0 {
		t.Errorf("stored: %v", list)
	}
}
