package api_test

import (
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
				OutputSchema: []byte(`{"type":"object"}`), Filter: new(".items"),
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

func TestHTTPAPI_MovesByManifest(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.createMovableAPIs(t)
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
			t.Fatal(err)
		}
	}
	state, again := writeManifest(t, theirs)
	if diff := cmp.Diff(text, again); diff != "" {
		t.Errorf("the other installation differs (-ours +theirs):\n%s", diff)
	}
	if steps, err = manifest.Plan(t.Context(), theirs, file, state, manifest.Options{}); err != nil || len(steps) > 0 {
		t.Errorf("applied again: %v, %+v", err, steps)
	}
	for _, part := range []string{"document_url:", `openapi: 3.0.3`, "server_url: https://eu.api.example.com", "filter: .items", "readOnlyHint: false", "in: query", "files:", "get_it:", "token_endpoint:"} {
		if !strings.Contains(text, part) {
			t.Errorf("the manifest lacks %q:\n%s", part, text)
		}
	}
}
