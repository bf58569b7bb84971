package api_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"patchbay/internal/connectors"
)

// outcomes are "name outcome" for each item of an import's response.
func outcomes(t *testing.T, answer map[string]any) []string {
	t.Helper()
	items, _ := answer["items"].([]any)
	all := make([]string, 0, len(items))
	for _, item := range items {
		item, _ := item.(map[string]any)
		name, _ := item["name"].(string)
		outcome, _ := item["outcome"].(string)
		all = append(all, name+" "+outcome)
	}
	return all
}

func TestImportTellsWhatBecameOfEachServer(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	admin := w.createKey(t, connectors.RoleAdmin)
	const document = `{
  // Ours
  "mcpServers": {
    "linear": {"url": "https://mcp.linear.app/mcp?team=eu", "headers": {"Authorization": "Bearer ${LINEAR_TOKEN}"}},
    "cookie": {"url": "https://mcp.example.com/", "headers": {"Cookie": "sekret"}},
  },
}`
	dry := w.call(t, admin, http.MethodPost, "/api/v1/import?dry_run=true", document).want(http.StatusOK)
	got := w.call(t, admin, http.MethodPost, "/api/v1/import", document).want(http.StatusOK)
	items, _ := got["items"].([]any)
	made, _ := items[0].(map[string]any)
	if made["connector_id"] == nil || got["created"] != 1.0 || got["refused"] != 1.0 || dry["dry_run"] != true {
		t.Fatalf("%v", got)
	}
	made["connector_id"], made["slug"], got["dry_run"] = nil, nil, true
	if diff := cmp.Diff(got, dry); diff != "" {
		t.Errorf("the dry run says something else: %s", diff)
	}
	const why = "The token is missing; the document has ${LINEAR_TOKEN}. Set it."
	want := []any{
		map[string]any{
			"name": "linear", "line": 4.0, "url": "https://mcp.linear.app/mcp", "outcome": "created", "why": why, "errors": []any{},
			"connector_id": nil, "slug": nil, "changed": []any{}, "missing": "token", "notices": []any{},
		},
		map[string]any{
			"name": "cookie", "line": 5.0, "url": "https://mcp.example.com/", "outcome": "refused",
			"why":          "Patchbay doesn't send cookies. Use a token or key if possible.",
			"errors":       []any{map[string]any{"location": "headers.Cookie", "message": "Patchbay doesn't send cookies. Use a token or key if possible."}},
			"connector_id": nil, "slug": nil, "changed": []any{}, "missing": nil, "notices": []any{},
		},
	}
	if diff := cmp.Diff(want, items); diff != "" {
		t.Error(diff)
	}
	again := w.call(t, admin, http.MethodPost, "/api/v1/import", document).want(http.StatusOK)
	if diff := cmp.Diff([]string{"linear unchanged", "cookie refused"}, outcomes(t, again)); diff != "" {
		t.Error(diff)
	}
}

func TestADryRunOfAnImportStoresNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	admin := w.createKey(t, connectors.RoleAdmin)
	c := w.Connector(t)
	document := `{"` + c.Slug + `": {"url": "https://elsewhere.example.com/"}, "fresh": {"url": "https://fresh.example.com/", "headers": {"X-Api-Key": "sekret"}}}`
	got := w.call(t, admin, http.MethodPost, "/api/v1/import?dry_run=true", document).want(http.StatusOK)
	if diff := cmp.Diff([]string{c.Slug + " updated", "fresh created"}, outcomes(t, got)); diff != "" {
		t.Error(diff)
	}
	list := w.call(t, admin, http.MethodGet, "/api/v1/connectors", nil).want(http.StatusOK)
	items, _ := list["items"].([]any)
	if only, _ := items[0].(map[string]any); len(items) != 1 || only["url"] != c.URL {
		t.Errorf("stored: %v", items)
	}
}

func TestWhatIsNoDocumentOfServersIsAProblem(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	admin := w.createKey(t, connectors.RoleAdmin)
	for body, want := range map[string]int{
		"":                    http.StatusBadRequest,
		"{\n\"a\": sekret\n}": http.StatusBadRequest,
		"{} {}":               http.StatusBadRequest,
		`"mcpServers": [`:     http.StatusBadRequest,
		`{"a": {"b": 1}}`:     http.StatusUnprocessableEntity,
		`[]`:                  http.StatusOK,
		"//" + strings.Repeat("x", 1<<20) + "\n[]": http.StatusRequestEntityTooLarge,
		strings.Repeat(" ", 5<<20):                 http.StatusRequestEntityTooLarge,
	} {
		got := w.call(t, admin, http.MethodPost, "/api/v1/import", body)
		if got.status != want || strings.Contains(string(got.body), "sekret") {
			t.Errorf("%.40q: %d, want %d: %s", body, got.status, want, got.body)
		}
	}
	w.call(t, admin, http.MethodPost, "/api/v1/import?dry_run=perhaps", "[]").problem(http.StatusUnprocessableEntity, "invalid")
}

func TestAnImportIsAboutOnesOwnTenant(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	theirs := w.ConnectorIn(t, w.Other)
	document := `{"` + theirs.Slug + `": {"url": "` + theirs.URL + `", "description": "Taken over"}}`
	got := w.call(t, w.createKey(t, connectors.RoleAdmin), http.MethodPost, "/api/v1/import", document).want(http.StatusOK)
	if diff := cmp.Diff([]string{theirs.Slug + " created"}, outcomes(t, got)); diff != "" {
		t.Error(diff)
	}
	now, err := w.OtherDoor().Connectors().Get(t.Context(), connectors.Ref(theirs.Slug))
	if err != nil || now.Description != "" || now.Version != theirs.Version {
		t.Errorf("theirs is %+v, %v", now, err)
	}
	file := w.call(t, w.createKeyIn(t, w.Other, connectors.RoleViewer), http.MethodGet, "/api/v1/export", nil).want(http.StatusOK)
	servers, _ := file["mcpServers"].(map[string]any)
	if server, _ := servers[theirs.Slug].(map[string]any); len(servers) != 1 || server["description"] != nil {
		t.Errorf("their export: %v", servers)
	}
}

func TestImportAndExportTellNoSecret(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	owner := w.createKey(t, connectors.RoleOwner)
	const document = `{"mcpServers": {
		"bearer": {"url": "https://one.example.com/", "headers": {"Authorization": "Bearer sekret-1"}},
		"basic": {"url": "https://two.example.com/", "headers": {"Authorization": "Basic YW5uOnNla3JldC0y"}},
		"two": {"url": "https://three.example.com/", "headers": {"X-Api-Key": "sekret-3", "X-Token": "sekret-4"}},
		"user": {"url": "https://ann:sekret-5@four.example.com/?token=sekret-6"},
		"query": {"url": "https://five.example.com/?api_key=sekret-7"},
		"broken": {"url": "https://six.example.com/", "auth": {"type": "bearer", "token": ["sekret-8"]}},
		"default": {"url": "https://seven.example.com/", "headers": {"Authorization": "Bearer ${TOKEN:-sekret-9}"}},
		"run": {"command": "sekret", "args": ["--token", "sekret-10"], "env": {"TOKEN": "sekret-11"}},
		"inside": {"url": "http://sekret@localhost:1/", "headers": {"X-Key": "sekret-12"}},
		"line": {"url": "https://eight.example.com/", "headers": {"X-Key": "sekret-13\nsekret"}}
	}}`
	var bodies []string
	for _, path := range []string{"/api/v1/import?dry_run=true", "/api/v1/import", "/api/v1/import"} {
		got := w.call(t, owner, http.MethodPost, path, document)
		got.want(http.StatusOK)
		bodies = append(bodies, string(got.body))
	}
	for _, client := range []string{"", "?client=claude", "?client=cursor", "?client=vscode", "?client=windsurf", "?client=gemini", "?client=zed", "?client=codex"} {
		got := w.call(t, owner, http.MethodGet, "/api/v1/export"+client, nil)
		got.want(http.StatusOK)
		bodies = append(bodies, string(got.body))
	}
	bodies = append(bodies, string(w.call(t, owner, http.MethodPost, "/api/v1/import", document[:len(document)-8]).body))
	everything := strings.Join(bodies, "\n") + w.log.String()
	for _, secret := range []string{"sekret", "YW5uOnNla3JldC0y"} {
		if i := strings.Index(everything, secret); i >= 0 {
			t.Errorf("%s stands in …%s", secret, everything[max(0, i-300):i+len(secret)])
		}
	}
}

func TestExportIsWrittenForEachClient(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.Connector(t, func(d *connectors.Draft) { d.Auth.Type, d.Slug = connectors.AuthBearer, "linear" })
	w.Connector(t, func(d *connectors.Draft) { d.Enabled = false })
	viewer := w.createKey(t, connectors.RoleViewer)
	server := func(token string) map[string]any {
		return map[string]any{"linear": map[string]any{"type": "http", "url": c.URL, "headers": map[string]any{"Authorization": "Bearer " + token}}}
	}
	remote := func(url, token string) map[string]any {
		return map[string]any{"linear": map[string]any{url: c.URL, "headers": map[string]any{"Authorization": "Bearer " + token}}}
	}
	for client, want := range map[string]map[string]any{
		"claude": {"mcpServers": server("${LINEAR_TOKEN}")},
		"cursor": {"mcpServers": server("${env:LINEAR_TOKEN}")},
		"vscode": {"servers": server("${input:linear-token}"), "inputs": []any{
			map[string]any{"type": "promptString", "id": "linear-token", "description": "The token for " + c.Name, "password": true},
		}},
		"windsurf": {"mcpServers": remote("serverUrl", "${env:LINEAR_TOKEN}")},
		"gemini":   {"mcpServers": remote("httpUrl", "${LINEAR_TOKEN}")},
		"zed":      {"context_servers": remote("url", "${LINEAR_TOKEN}")},
		"codex":    {"toml": "[mcp_servers]\n[mcp_servers.linear]\nurl = '" + c.URL + "'\nbearer_token_env_var = 'LINEAR_TOKEN'\n"},
	} {
		got := w.call(t, viewer, http.MethodGet, "/api/v1/export?client="+client, nil).want(http.StatusOK)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", client, diff)
		}
	}
	whole := w.call(t, viewer, http.MethodGet, "/api/v1/export", nil).want(http.StatusOK)
	if servers, _ := whole["mcpServers"].(map[string]any); len(servers) != 2 {
		t.Errorf("%v", whole)
	}
	w.call(t, viewer, http.MethodGet, "/api/v1/export?client=emacs", nil).problem(http.StatusUnprocessableEntity, "invalid")
}

func TestImport_ReadsTOML(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	got := w.call(t, w.createKey(t, connectors.RoleAdmin), http.MethodPost, "/api/v1/import?dry_run=true", `
[mcp_servers.linear]
url = "https://linear.example/mcp"
bearer_token_env_var = "LINEAR_TOKEN"
enabled_tools = ["search"]`).want(http.StatusOK)
	items, _ := got["items"].([]any)
	if len(items) != 1 {
		t.Fatalf("%v", got)
	}
	item, _ := items[0].(map[string]any)
	want := []any{"Tool selection (enabled_tools) ignored: choose tools when granting access."}
	if item["outcome"] != "created" || item["missing"] != "token" || !cmp.Equal(item["notices"], any(want)) {
		t.Errorf("%v", item)
	}
}

func TestExport_IsImportedIntoAnotherTenant(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for range 3 {
		w.Connector(t, func(d *connectors.Draft) { d.Auth.Type = connectors.AuthBearer })
	}
	file := w.call(t, w.createKey(t, connectors.RoleViewer), http.MethodGet, "/api/v1/export", nil)
	file.want(http.StatusOK)
	theirs := w.createKeyIn(t, w.Other, connectors.RoleAdmin)
	got := w.call(t, theirs, http.MethodPost, "/api/v1/import", string(file.body)).want(http.StatusOK)
	if got["created"] != 3.0 {
		t.Errorf("%v", got)
	}
	again := w.call(t, theirs, http.MethodGet, "/api/v1/export", nil)
	if diff := cmp.Diff(string(file.body), string(again.body)); diff != "" {
		t.Error(diff)
	}
}
