package api_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"patchbay/client"
	"patchbay/internal/connectors"
	"patchbay/internal/manifest"
)

const pagedDocument = `openapi: 3.0.3
info: {title: Pages, version: "1"}
security: [{oauth: []}]
components:
  securitySchemes:
    oauth: {type: oauth2, flows: {authorizationCode: {authorizationUrl: "https://id.example.com/authorize", tokenUrl: "https://id.example.com/token", scopes: {read: ""}}}}
paths:
  /pages:
    get:
      operationId: listPages
      security: [{oauth: [read]}]
      parameters: [{name: page, in: query, schema: {type: integer}}]
      responses: {"200": {description: "", content: {application/json: {schema: {type: array, items: {type: object}}}}}}
`

// createMovableAPIs makes an HTTP API of each form, with all that one can have.
func (w *world) createMovableAPIs(t *testing.T) {
	t.Helper()
	notes, api := serveNotes(t), w.newGoClient(t, connectors.RoleAdmin)
	for _, draft := range []client.ConnectorCreate{
		{
			Name: "Notes", Kind: new("http"), DocumentURL: new(notes + "/openapi.json"), Operations: []string{"GET /notes", "GET /notes/{id}"}, Tags: []string{"a"},
			Auth: &client.AuthInput{Type: new("api_key"), In: new("query"), Header: new("k"), Key: new("hush")}, Headers: map[string]string{"X-Version": "3"},
			Endpoints: []client.EndpointInput{{
				Name: "ping", URL: "https://api.example.com/ping/{word}?q={q}", Method: new("POST"), Title: new("Ping"), Description: new("Sends a word."),
				Headers: map[string]string{"X-Word": "{word}"}, Media: new("multipart/form-data"), Body: new(`{"file":"{file}"}`), Files: []string{"file"},
				InputSchema:  []byte(`{"type":"object","properties":{"word":{"type":"string","minLength":1},"q":{"type":"integer"},"file":{"type":"string"}},"required":["word"]}`),
				OutputSchema: []byte(`{"type":"object"}`), Filter: new(".items"), Annotations: map[string]bool{"idempotentHint": true},
				Pages: &client.EndpointPages{Kind: "page", Argument: new("q"), Items: new("/items"), First: new(int64(1)), Max: 3},
			}},
		},
		{
			Name: "Pages", Kind: new("http"), Document: new(pagedDocument), URL: new("https://api.example.com/v1"), ServerURL: new("https://eu.api.example.com"), Operations: []string{"GET /pages"},
			Auth: &client.AuthInput{Type: new("oauth2"), ClientID: new("me"), Scopes: []string{"read", "write"}}, CredentialMode: new("per_agent"), ToolChanges: new("hold_all"),
		},
		{
			Name: "By hand", Kind: new("http"), Enabled: new(false),
			Endpoints: []client.EndpointInput{{Name: "get_it", URL: "https://hand.example.com/it"}, {Name: "list_all", URL: "https://hand.example.com/all"}},
		},
	} {
		if _, err := api.CreateConnector(t.Context(), draft); err != nil {
			t.Fatal(err)
		}
	}
	err := api.PickOperations(t.Context(), "notes", client.OperationChange{Change: []client.OperationPatch{{Key: "GET /notes", Filter: new(".[0]"), Annotations: map[string]bool{"readOnlyHint": false}}}})
	if err != nil {
		t.Fatal(err)
	}
}

func (w *world) newClientIn(t *testing.T, tenant connectors.TenantID) *client.Client {
	t.Helper()
	server := httptest.NewServer(w.handler)
	t.Cleanup(server.Close)
	c, err := client.New(server.URL, w.createKeyIn(t, tenant, connectors.RoleOwner), client.WithHTTPClient(server.Client()))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func writeManifest(t *testing.T, api *client.Client) (manifest.State, string) {
	t.Helper()
	state, err := manifest.Fetch(t.Context(), api, manifest.Scope{})
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	if err := manifest.Write(&text, state); err != nil {
		t.Fatal(err)
	}
	return state, text.String()
}

// moveByManifest applies the manifest of one tenant to another, and returns it. Both have the same manifest then.
func (w *world) moveByManifest(t *testing.T) string {
	t.Helper()
	ours, theirs := w.newClientIn(t, w.Tenant), w.newClientIn(t, w.Other)
	_, text := writeManifest(t, ours)
	file, err := manifest.Read([]byte(text), manifest.Sources{Env: func(string) string { return "hush" }})
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	state, _ := writeManifest(t, theirs)
	steps, err := manifest.Plan(t.Context(), theirs, file, state, manifest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range steps {
		if err := s.Do(t.Context(), theirs); err != nil {
			t.Fatalf("%s %s: %v", s.Kind, s.Name, err)
		}
	}
	state, again := writeManifest(t, theirs)
	if diff := cmp.Diff(text, again); diff != "" {
		t.Errorf("the other installation differs (-ours +theirs):\n%s", diff)
	}
	if steps, err = manifest.Plan(t.Context(), theirs, file, state, manifest.Options{}); err != nil || len(steps) > 0 {
		t.Errorf("applied again: %v, %+v", err, steps)
	}
	return text
}

func TestHTTPAPI_MovesByManifest(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.createMovableAPIs(t)
	text := w.moveByManifest(t)
	for _, part := range []string{"document_url:", `openapi: 3.0.3`, "server_url: https://eu.api.example.com", "filter: .items", "readOnlyHint: false", "idempotentHint: true", "in: query", "files:", "get_it:", "token_endpoint:"} {
		if !strings.Contains(text, part) {
			t.Errorf("the manifest lacks %q:\n%s", part, text)
		}
	}
}

// The tool list of an agent, its pins and its shortened answers move too.
func TestAgent_MovesByManifest(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.createMovableAPIs(t)
	api := w.newGoClient(t, connectors.RoleAdmin)
	if _, err := api.CreateAgent(t.Context(), client.AgentCreate{Slug: new("robot"), Name: "Robot", ToolList: new("lean")}); err != nil {
		t.Fatal(err)
	}
	if _, err := api.SyncTools(t.Context(), "notes", client.SyncToolsQuery{}, client.SyncRequest{}); err != nil {
		t.Fatal(err)
	}
	grant := client.AgentGrantPut{Tools: client.ToolSet{All: true}, PinnedTools: []string{"ping"}}
	rule := client.Shaping{Fields: new(".items"), Budget: new(int64(700))}
	if err := errors.Join(api.GrantConnector(t.Context(), "robot", "notes", grant), api.SetAgentShaping(t.Context(), "robot", "notes", "ping", rule)); err != nil {
		t.Fatal(err)
	}
	text := w.moveByManifest(t)
	for _, part := range []string{"tool_list: lean", "pinned_tools:", "shaping:", "budget: 700", "fields: .items"} {
		if !strings.Contains(text, part) {
			t.Errorf("the manifest lacks %q:\n%s", part, text)
		}
	}
}

func TestHTTPAPI_MovesByImport(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.createMovableAPIs(t)
	ours, theirs := w.newClientIn(t, w.Tenant), w.newClientIn(t, w.Other)
	key := w.createKeyIn(t, w.Other, connectors.RoleAdmin)
	file := w.call(t, w.createKey(t, connectors.RoleViewer), http.MethodGet, "/api/v1/export", nil)
	file.want(http.StatusOK)
	if text := string(file.body); strings.Contains(text, "hush") {
		t.Errorf("the export has a secret: %s", text)
	}
	importFile := func(query, text string) map[string]any {
		t.Helper()
		return w.call(t, key, http.MethodPost, "/api/v1/import"+query, text).want(http.StatusOK)
	}
	if dry := importFile("?dry_run=true", string(file.body)); dry["created"] != 3.0 {
		t.Errorf("the dry run says %v", dry)
	}
	if got := importFile("", string(file.body)); got["created"] != 3.0 {
		t.Fatalf("imported: %v", got)
	}
	if again := importFile("", string(file.body)); again["unchanged"] != 3.0 {
		t.Errorf("imported again: %v", again)
	}
	_, want := writeManifest(t, ours)
	_, got := writeManifest(t, theirs)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the other tenant differs (-ours +theirs):\n%s", diff)
	}
	again := w.call(t, key, http.MethodGet, "/api/v1/export", nil)
	if diff := cmp.Diff(string(file.body), string(again.body)); diff != "" {
		t.Errorf("exported again (-ours +theirs):\n%s", diff)
	}

	changed := strings.Replace(string(file.body), `"filter":".items"`, `"filter":".all"`, 1)
	changed = strings.Replace(changed, `"GET /notes/{id}":{}`, `"POST /notes":{}`, 1)
	changed = strings.Replace(changed, "title: Pages", "title: Leaves", 1)
	if dry := importFile("?dry_run=true", changed); dry["updated"] != 2.0 || dry["unchanged"] != 1.0 {
		t.Errorf("the dry run of a changed file says %v", dry)
	}
	if got := importFile("", changed); got["updated"] != 2.0 || got["unchanged"] != 1.0 {
		t.Errorf("a changed file: %v", got)
	}
	if again := w.call(t, key, http.MethodGet, "/api/v1/export", nil); string(again.body) != changed {
		t.Errorf("after the changed file (-file +export):\n%s", cmp.Diff(changed, string(again.body)))
	}
	for _, form := range []string{"claude", "vscode", "codex"} {
		if text := string(w.call(t, key, http.MethodGet, "/api/v1/export?client="+form, nil).body); strings.Contains(text, "notes") || strings.Contains(text, "hand.example.com") {
			t.Errorf("%s gets an HTTP API: %s", form, text)
		}
	}
}

func TestImport_RefusesBrokenHTTPAPIs(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	admin := w.createKey(t, connectors.RoleAdmin)
	w.Connector(t, func(d *connectors.Draft) { d.Slug, d.URL = "mcp", "https://mcp.example.com/mcp" })
	for entry, says := range map[string]string{
		`"a": {"kind": "http", "document_url": "http://127.0.0.1:9/openapi.json"}`:                          "The document's server can't be reached.",
		`"a": {"kind": "http", "document_url": "http://169.254.169.254/openapi.json"}`:                      "169.254.169.254",
		`"a": {"kind": "http", "url": "https://a.example", "document": "no document"}`:                      "document",
		`"a": {"kind": "http", "url": "https://a.example", "operations": {"GET /a": {}}}`:                   "The document is missing, or was too large for this file.",
		`"a": {"kind": "http", "url": "https://a.example", "endpoints": {"a": {"colour": "red"}}}`:          "This entry matches neither the JSON API nor an export.",
		`"a": {"kind": "http", "url": "https://a.example", "endpoints": {"a": {"url": "ftp://a.example"}}}`: "address",
		`"a": {"kind": "http"}`: "Add a url or document_url.",
		`"mcp": {"kind": "http", "url": "https://mcp.example.com/mcp", "endpoints": {"a": {"url": "https://mcp.example.com/a"}}}`: "An MCP server can't become an HTTP API",
	} {
		got := w.call(t, admin, http.MethodPost, "/api/v1/import", `{"mcpServers": {`+entry+`}}`).want(http.StatusOK)
		item := got["items"].([]any)[0].(map[string]any)
		if item["outcome"] != "refused" || !strings.Contains(fmt.Sprint(item["why"]), says) {
			t.Errorf("%s: %v", entry, item)
		}
	}
}

func TestImport_TakesTheFormOfTheJSONAPI(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	admin := w.createKey(t, connectors.RoleAdmin)
	entry := `{"mcpServers": {"notes": {"kind": "http", "document_url": "` + serveNotes(t) + `/openapi.json", "operations": ["GET /notes"], "server_url": "https://api.example.com",
		"endpoints": [{"name": "ping", "url": "https://api.example.com/ping"}]}, "plain": {"kind": "http", "endpoints": [{"name": "ping", "url": "https://plain.example.com/ping"}]}}}`
	if got := w.call(t, admin, http.MethodPost, "/api/v1/import", entry).want(http.StatusOK); got["created"] != 2.0 {
		t.Fatalf("imported: %v", got)
	}
	_, text := writeManifest(t, w.newClientIn(t, w.Tenant))
	for _, part := range []string{"operations:\n      - GET /notes\n", "server_url: https://api.example.com", "ping:", "url: https://plain.example.com"} {
		if !strings.Contains(text, part) {
			t.Errorf("the manifest lacks %q:\n%s", part, text)
		}
	}
}
