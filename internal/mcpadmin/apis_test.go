package mcpadmin_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"patchbay/internal/connectors"
)

const notesDocument = `{"openapi":"3.1.0","info":{"title":"Notes","version":"2"},
	"components":{"securitySchemes":{"key":{"type":"apiKey","in":"query","name":"k","description":"` + marker + `"}}},"security":[{"key":[]}],"paths":{
	"/notes":{"get":{"operationId":"listNotes","tags":["` + marker + `"],"summary":"` + marker + `","responses":{"200":{"description":""}}},
		"post":{"operationId":"addNote","responses":{"201":{"description":""}}}},
	"/notes/{id}":{"get":{"operationId":"getNote","parameters":[{"name":"id","in":"path","required":true,"schema":{"type":"string"}}],"responses":{"200":{"description":""}}}}}}`

func serveNotes(t *testing.T) string {
	t.Helper()
	notes := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(rw, notesDocument)
	}))
	t.Cleanup(notes.Close)
	return notes.URL
}

type listedOperations struct {
	Items []struct {
		Picked    bool
		Tokens    int
		Filter    *string
		Untrusted struct{ Key, Name string }
	}
}

type shownAPI struct {
	Document struct {
		URL       *string `json:"document_url"`
		Size      int
		Untrusted struct{ Text *string }
	}
	SignIn []struct {
		AuthType  string `json:"auth_type"`
		AuthIn    string `json:"auth_in"`
		Untrusted struct {
			AuthName string `json:"auth_name"`
		}
	} `json:"sign_in"`
	Endpoints []struct {
		Untrusted struct{ Name, URL, Title, Body string }
	}
}

func TestHTTPAPI_IsSetUpByAnAssistant(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	url := serveNotes(t)
	a := w.connect(t, w.newAPIKey(t, w.Tenant, connectors.RoleAdmin), newest, "accept")

	if says := a.callInvalid(t, "add_http_api", map[string]any{"name": "Notes", "document_url": url + "/openapi.json?what=was-read"}); !strings.Contains(says, "with query") {
		t.Errorf("an address that carries something out: %q", says)
	}
	var tested struct {
		OK         bool
		Operations int
		SignIn     []any `json:"sign_in"`
	}
	a.callTool(t, "test_connector", map[string]any{"kind": "http", "url": url + "/openapi.json"}, &tested)
	if !tested.OK || tested.Operations != 3 || len(tested.SignIn) != 1 {
		t.Errorf("tested %+v", tested)
	}
	var made struct {
		Connector struct{ Slug, Kind string }
		SecretURL string `json:"secret_url"`
	}
	a.callTool(t, "add_http_api", map[string]any{"name": "Notes", "document_url": url + "/openapi.json", "auth_type": "api_key", "auth_in": "query", "auth_name": "k"}, &made)
	if made.Connector.Kind != "http" || made.SecretURL != w.url+"/connectors/notes/credentials" {
		t.Errorf("added %+v", made)
	}
	var operations listedOperations
	a.callTool(t, "list_operations", map[string]any{"connector": "notes", "method": "GET", "path": "/notes/", "new": false}, &operations)
	if got := operations.Items; len(got) != 1 || got[0].Untrusted.Key != "GET /notes/{id}" || got[0].Picked || got[0].Tokens == 0 {
		t.Errorf("operations %+v", got)
	}
	a.callTool(t, "pick_operations", map[string]any{"connector": "notes", "add": []string{"GET /notes", "GET /notes/{id}"}, "settings": []map[string]any{{"key": "GET /notes", "filter": ".items"}}}, nil)
	if says := a.questions[0]; !strings.Contains(says, `make tools of "GET /notes", "GET /notes/{id}"`) || !strings.Contains(says, ".items") {
		t.Errorf("the person was asked %q", says)
	}
	a.callTool(t, "pick_operations", map[string]any{"connector": "notes", "remove": []string{"GET /notes/{id}"}}, nil)
	a.callTool(t, "list_operations", map[string]any{"connector": "notes", "picked": true}, &operations)
	if got := operations.Items; len(got) != 1 || got[0].Untrusted.Name != "listNotes" || got[0].Filter == nil || *got[0].Filter != ".items" {
		t.Errorf("picked %+v", got)
	}

	a.callTool(t, "save_endpoint", map[string]any{"connector": "notes", "name": "ping", "url": url + "/ping/{word}", "method": "POST", "media": "application/json", "body": `{"a":"{b}"}`}, nil)
	if says := a.questions[2]; !strings.Contains(says, `method "POST", url "`+url+`/ping/{word}"`) || !strings.Contains(says, "body") {
		t.Errorf("the person was asked %q", says)
	}
	a.callTool(t, "save_endpoint", map[string]any{"connector": "notes", "endpoint": "ping", "title": "Ping"}, nil)
	var shown shownAPI
	a.callTool(t, "get_http_api", map[string]any{"connector": "notes", "with_text": true}, &shown)
	if e := shown.Endpoints; len(e) != 1 || e[0].Untrusted.Title != "Ping" || e[0].Untrusted.Body != `{"a":"{b}"}` || shown.Document.URL == nil || shown.Document.Untrusted.Text != nil {
		t.Errorf("shown %+v", shown)
	}
	if m := shown.SignIn; len(m) != 1 || m[0].AuthType != "api_key" || m[0].AuthIn != "query" || m[0].Untrusted.AuthName != "k" {
		t.Errorf("ways to sign in %+v", m)
	}
	a.callTool(t, "delete_endpoint", map[string]any{"connector": "notes", "endpoint": "ping"}, nil)
	a.testEndpointFields(t, url)

	a.callTool(t, "set_document", map[string]any{"connector": "notes", "document": `{"openapi":"3.1.0","info":{"title":"Notes","version":"3"},"paths":{"/notes":{"get":{"responses":{"200":{"description":""}}}}}}`}, nil)
	a.callTool(t, "get_http_api", map[string]any{"connector": "notes", "with_text": true}, &shown)
	if text := shown.Document.Untrusted.Text; text == nil || !strings.Contains(*text, `"version":"3"`) {
		t.Errorf("the document is %v", text)
	}
	by := " by key assistant"
	want := []string{
		"connector.test" + by, "connector.create" + by, "connector.update" + by, "connector.update" + by, "endpoint.create" + by, "endpoint.update" + by, "endpoint.delete" + by, "endpoint.create" + by, "endpoint.create" + by, "connector.update" + by,
	}
	if diff := cmp.Diff(want, w.mcpEvents(t)); diff != "" || len(a.questions) != 8 {
		t.Errorf("asked %q, audit log (-want +got):\n%s", a.questions, diff)
	}
}

// testEndpointFields saves endpoints with all that the JSON API takes.
func (a *mcpClient) testEndpointFields(t *testing.T, url string) {
	t.Helper()
	fields := map[string]any{
		"connector": "notes", "name": "upload", "method": "POST", "url": url + "/files?page={page}", "headers": map[string]any{"x-version": "{version}"}, "media": "multipart/form-data", "body": `{"file":"{file}"}`,
		"files": []any{"file"}, "output_schema": map[string]any{"type": "object"}, "pages": map[string]any{"kind": "page", "argument": "page", "items": "/items", "first": 1, "max": 3},
		"annotations": map[string]any{"destructiveHint": false},
	}
	a.callTool(t, "save_endpoint", fields, nil)
	says := a.questions[len(a.questions)-1]
	for _, part := range []string{`headers "{\"x-version\":\"{version}\"}"`, "files", "output schema", `\"items\":\"/items\"`, `\"destructiveHint\":false`} {
		if !strings.Contains(says, part) {
			t.Errorf("the question has no %s: %q", part, says)
		}
	}
	var shown struct {
		Endpoints []struct {
			Untrusted struct {
				Headers      map[string]string
				Files        []string
				OutputSchema map[string]any `json:"output_schema"`
				Pages        struct{ Max int }
				Annotations  map[string]bool
			}
		}
	}
	a.callTool(t, "get_http_api", map[string]any{"connector": "notes"}, &shown)
	if e := shown.Endpoints[0].Untrusted; e.Headers["x-version"] != "{version}" || len(e.Files) != 1 || len(e.OutputSchema) != 1 || e.Pages.Max != 3 || len(e.Annotations) != 1 {
		t.Errorf("shown %+v", e)
	}
	var made struct {
		Untrusted struct {
			Method  string
			Headers map[string]string
			Notes   []string
		}
	}
	a.callTool(t, "save_endpoint", map[string]any{"connector": "notes", "name": "send", "curl": "curl " + url + "/send -H 'X-Kind: a' -u me:hush -d a=b"}, &made)
	if says := a.questions[len(a.questions)-1]; !strings.Contains(says, url+"/send") || !strings.Contains(says, `method "POST"`) || strings.Contains(says, "hush") {
		t.Errorf("the question is %q", says)
	}
	if e := made.Untrusted; e.Method != "POST" || e.Headers["X-Kind"] != "a" || len(e.Notes) != 1 {
		t.Errorf("the command made %+v", made)
	}
	if says := a.callInvalid(t, "save_endpoint", map[string]any{"connector": "notes", "endpoint": "send", "curl": "curl " + url}); !strings.Contains(says, "leave endpoint out") {
		t.Errorf("a command for an old endpoint: %q", says)
	}
}

func TestHTTPAPI_QuestionsAreAnsweredByPeople(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.Connector(t, func(d *connectors.Draft) {
		d.Slug, d.URL, d.Transport = "notes", "http://127.0.0.1:9/openapi.json", connectors.TransportAPI
	})
	if err := w.Door().APIs().SaveDocument(t.Context(), c.ID, connectors.APIDocument{Body: []byte(notesDocument)}); err != nil {
		t.Fatal(err)
	}
	_, token := w.newMemberProgram(t, connectors.RoleOwner, connectors.ScopeAdmin)
	a := w.connect(t, token, newest, "decline")
	was := w.Rows(t)
	for tool, want := range map[string]string{"set_document": "reauthentication_required", "pick_operations": "declined", "save_endpoint": "declined", "delete_endpoint": "declined"} {
		arguments := map[string]any{"connector": "notes"}
		for name, value := range exampleArguments[tool] {
			if name != "connector" {
				arguments[name] = value
			}
		}
		if code, says := a.callRefused(t, tool, arguments); code != want {
			t.Errorf("%s: %s, %s", tool, code, says)
		}
	}
	lowered := map[string]any{"key": "GET /notes", "filter": ".items" + strings.Repeat(" ", 150), "annotations": map[string]any{"destructiveHint": false}}
	if says := a.callInvalid(t, "pick_operations", map[string]any{"connector": "notes", "settings": slices.Repeat([]any{lowered}, 21)}); !strings.Contains(says, "at most 20 settings") {
		t.Errorf("21 settings: %q", says)
	}
	long := map[string]any{"key": "GET /notes", "filter": ".items" + strings.Repeat(" ", 200)}
	if says := a.callInvalid(t, "pick_operations", map[string]any{"connector": "notes", "settings": []any{long}}); !strings.Contains(says, "filter over 200 bytes") {
		t.Errorf("a long filter: %q", says)
	}
	a.callRefused(t, "pick_operations", map[string]any{"connector": "notes", "settings": []any{lowered}})
	if says := a.questions[len(a.questions)-1]; !strings.Contains(says, "destructiveHint") {
		t.Errorf("the person was asked %q", says)
	}
	if w.Rows(t) != was {
		t.Error("something changed")
	}
	for tool, arguments := range map[string]map[string]any{
		"set_document":    {"connector": "notes"},
		"pick_operations": {"connector": "notes"},
		"save_endpoint":   {"connector": "notes", "name": "ping"},
	} {
		if says := a.callInvalid(t, tool, arguments); says == "" {
			t.Errorf("%s takes %v", tool, arguments)
		}
	}
	for _, tool := range []string{"list_operations", "get_http_api"} {
		var got any
		a.callTool(t, tool, map[string]any{"connector": "notes"}, &got)
		found := findMarker("", got)
		if len(found) == 0 {
			t.Errorf("%s has nothing of it", tool)
		}
		for _, place := range found {
			if !strings.Contains(place, ".untrusted.") {
				t.Errorf("%s: a text of the document stands at %s", tool, place)
			}
		}
	}
}
