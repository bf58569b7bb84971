package api_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"patchbay/internal/connectors"
)

const notesDocument = `{"openapi":"3.1.0","info":{"title":"Notes","version":"2"},"servers":[{"url":"/v2"}],"paths":{
	"/notes":{"get":{"operationId":"listNotes","tags":["read"],"summary":"List notes","responses":{"200":{"description":""}}},
		"post":{"operationId":"addNote","tags":["write"],"requestBody":{"content":{"application/json":{"schema":{"type":"object","properties":{"text":{"type":"string"}}}}}},
		"responses":{"201":{"description":"","content":{"application/json":{"schema":{"type":"object"}}}}}}},
	"/notes/{id}":{"get":{"operationId":"getNote","tags":["read"],"summary":"Get a note","parameters":[{"name":"id","in":"path","required":true,"schema":{"type":"string"}}],
		"responses":{"200":{"description":"","content":{"application/json":{"schema":{"type":"object"}}}}}}}}}`

func TestHTTPAPI_IsConnectedPickedSyncedAndCalled(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	notes := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/openapi.json" {
			_, _ = io.WriteString(rw, notesDocument)
			return
		}
		rw.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(rw, `{"path":"`+r.URL.Path+`","authorization":"`+r.Header.Get("Authorization")+`"}`)
	}))
	t.Cleanup(notes.Close)
	admin := w.createKey(t, connectors.RoleAdmin)
	path := "/api/v1/connectors/notes"

	w.call(t, admin, http.MethodPost, "/api/v1/connectors", map[string]any{
		"name": "Notes", "kind": "http", "document_url": notes.URL + "/openapi.json", "operations": []string{"GET /notes"},
		"auth": map[string]any{"type": "bearer", "token": "hush"},
	}).want(http.StatusCreated)
	listed := w.call(t, admin, http.MethodGet, path+"/operations?tag=read&method=get", nil).want(http.StatusOK)
	if items := listed["items"].([]any); len(items) != 2 || items[0].(map[string]any)["picked"] != true || items[1].(map[string]any)["tokens"].(float64) < 10 {
		t.Errorf("the operations are %v", items)
	}
	w.call(t, admin, http.MethodPatch, path+"/operations", `{"add":["GET /notes/{id}"],"remove":["GET /notes"]}`).want(http.StatusNoContent)
	w.call(t, admin, http.MethodPost, path+"/sync_tools", nil).want(http.StatusOK)
	if tools := w.call(t, admin, http.MethodGet, path, nil).want(http.StatusOK)["discovered_tools"].([]any); len(tools) != 1 || tools[0] != "getNote" {
		t.Errorf("the tools are %v", tools)
	}
	called := w.call(t, admin, http.MethodPost, path+"/tools/getNote/call", `{"arguments":{"id":"7"},"confirm":true}`).want(http.StatusCreated)
	if got := called["structured_content"].(map[string]any); called["outcome"] != "ok" || got["path"] != "/v2/notes/7" || got["authorization"] != "[redacted]" {
		t.Errorf("the call is %v", called)
	}
	w.call(t, admin, http.MethodPatch, path+"/operations", `{"change":[{"key":"GET /notes/{id}","filter":".path"}]}`).want(http.StatusNoContent)
	w.call(t, admin, http.MethodPost, path+"/sync_tools", nil).want(http.StatusOK)
	called = w.call(t, admin, http.MethodPost, path+"/tools/getNote/call", `{"arguments":{"id":"7"},"confirm":true}`).want(http.StatusCreated)
	if content := fmt.Sprint(called["content"]); called["outcome"] != "ok" || content != `[map[text:"/v2/notes/7" type:text]]` || called["structured_content"] != nil || called["structured_valid"] != nil {
		t.Errorf("the filtered call is %v", called)
	}
}

// createHTTPAPI makes a connector to an HTTP API with a document and an operation that is picked.
func (w *world) createHTTPAPI(t *testing.T, tenant connectors.TenantID) connectors.Connector {
	t.Helper()
	c := w.ConnectorIn(t, tenant, withURL("http://127.0.0.1:1/"), func(d *connectors.Draft) { d.Transport = connectors.TransportAPI })
	apis := w.St.Tenant(tenant).APIs()
	if err := apis.SaveDocument(t.Context(), c.ID, connectors.APIDocument{Body: []byte(notesDocument)}); err != nil {
		t.Fatal(err)
	}
	if err := apis.SaveTools(t.Context(), c.ID, []connectors.APITool{{Key: "GET /notes"}, {Key: "ping", Endpoint: []byte(`{"Name":"ping","Method":"GET","URL":"http://127.0.0.1:1/ping"}`)}}); err != nil {
		t.Fatal(err)
	}
	return c
}

// serveNotes serves the document, and answers all else with the path and the body.
func serveNotes(t *testing.T) string {
	t.Helper()
	notes := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/openapi.json" {
			rw.Header().Set("ETag", `"1"`)
			_, _ = io.WriteString(rw, notesDocument)
			return
		}
		body, _ := io.ReadAll(r.Body)
		rw.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(rw).Encode(map[string]any{"path": r.URL.RequestURI(), "method": r.Method, "body": string(body)})
	}))
	t.Cleanup(notes.Close)
	return notes.URL
}

func TestOperations_KeepTheirSettings(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	admin, path := w.createKey(t, connectors.RoleAdmin), "/api/v1/connectors/"+w.createHTTPAPI(t, w.Tenant).Slug
	get := func() map[string]any {
		t.Helper()
		return w.call(t, admin, http.MethodGet, path+"/operations?picked=true", nil).want(http.StatusOK)["items"].([]any)[0].(map[string]any)
	}
	w.call(t, admin, http.MethodPatch, path+"/operations", `{"change":[{"key":"GET /notes","filter":".path","annotations":{"readOnlyHint":false}}]}`).want(http.StatusNoContent)
	w.call(t, admin, http.MethodPatch, path+"/operations", `{"add":["GET /notes","POST /notes"]}`).want(http.StatusNoContent)
	if got := get(); got["filter"] != ".path" || got["annotations"].(map[string]any)["readOnlyHint"] != false {
		t.Errorf("picked again it is %v", got)
	}
	w.call(t, admin, http.MethodPost, path+"/sync_tools", nil).want(http.StatusOK)
	tool := w.call(t, admin, http.MethodGet, path+"/tools?q=listNotes", nil).want(http.StatusOK)["items"].([]any)[0].(map[string]any)
	if tool["annotations"].(map[string]any)["readOnlyHint"] != false {
		t.Errorf("the tool is %v", tool)
	}
	for body, says := range map[string]string{
		`{"add":["GET /none"]}`:                                      `The document has no operation "GET /none".`,
		`{"add":["GET /notes"],"remove":["GET /notes"]}`:             `"GET /notes" is both added and removed.`,
		`{"change":[{"key":"GET /notes/{id}","filter":"."}]}`:        `The operation "GET /notes/{id}" isn't picked.`,
		`{"change":[{"key":"GET /notes","filter":".["}]}`:            "The filter isn't valid jq.",
		`{"change":[{"key":"GET /notes","max_pages":3}]}`:            `The document doesn't say how the response of "GET /notes" is paginated.`,
		`{"change":[{"key":"GET /notes","annotations":{"a":true}}]}`: `"a" isn't a tool annotation.`,
	} {
		if doc := w.call(t, admin, http.MethodPatch, path+"/operations", body).problem(http.StatusUnprocessableEntity, "invalid"); doc["detail"] != says {
			t.Errorf("%s: %v", body, doc)
		}
	}
	w.call(t, admin, http.MethodPatch, path+"/operations", `{"remove":["ping"]}`).want(http.StatusNoContent)
	w.call(t, admin, http.MethodGet, path+"/endpoints/ping", nil).want(http.StatusOK)
}

// A document gets two operations. One is picked, the other passed over.
func TestOperations_AreNewUntilDecidedOn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var document atomic.Pointer[string]
	document.Store(new(notesDocument))
	notes := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(rw, *document.Load()) }))
	t.Cleanup(notes.Close)
	admin, path := w.createKey(t, connectors.RoleAdmin), "/api/v1/connectors/notes"
	w.call(t, admin, http.MethodPost, "/api/v1/connectors", map[string]any{
		"name": "Notes", "kind": "http", "document_url": notes.URL + "/openapi.json", "operations": []string{"GET /notes"},
	}).want(http.StatusCreated)
	list := func(query string) (keys []string) {
		t.Helper()
		for _, item := range w.call(t, admin, http.MethodGet, path+"/operations?"+query, nil).want(http.StatusOK)["items"].([]any) {
			o := item.(map[string]any)
			keys = append(keys, fmt.Sprint(o["key"], " ", o["new"]))
		}
		return keys
	}
	want := func(query string, want ...string) {
		t.Helper()
		if got := list(query); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", query, got, want)
		}
	}
	want("new=true")
	want("path=/notes/", "GET /notes/{id} false")
	want("path=/NOTES")
	want("path=/notes&method=post", "POST /notes false")

	document.Store(new(strings.Replace(notesDocument, `"/notes":{`, `"/tags":{"get":{"responses":{"200":{"description":""}}},"put":{"responses":{"200":{"description":""}}}},"/notes":{`, 1)))
	w.call(t, admin, http.MethodPost, path+"/sync_tools", nil).want(http.StatusOK)
	want("new=true", "GET /tags true", "PUT /tags true")
	want("new=false&path=/notes/", "GET /notes/{id} false")
	w.call(t, admin, http.MethodPatch, path+"/operations", `{"add":["GET /tags"]}`).want(http.StatusNoContent)
	want("new=true", "PUT /tags true")
	w.call(t, admin, http.MethodPatch, path+"/operations", `{"remove":["PUT /tags"]}`).want(http.StatusNoContent)
	want("new=true")
	want("path=/tags", "GET /tags false", "PUT /tags false")
	w.call(t, admin, http.MethodGet, path+"/operations?new=yes", nil).problem(http.StatusUnprocessableEntity, "invalid")
}

func TestEndpoints_AreAddedChangedAndRemoved(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	notes := serveNotes(t)
	admin, path := w.createKey(t, connectors.RoleAdmin), "/api/v1/connectors/notes"
	w.call(t, admin, http.MethodPost, "/api/v1/connectors", map[string]any{
		"name": "Notes", "kind": "http", "document_url": notes + "/openapi.json", "operations": []string{"GET /notes"},
		"endpoints": []any{map[string]any{"name": "ping", "url": notes + "/ping"}},
	}).want(http.StatusCreated)
	created := w.readLatestDetail(t, "connector.create")
	if tools := fmt.Sprint(created["tools"]); !strings.Contains(tools, notes+"/ping") || !strings.Contains(tools, "GET /notes") || len(fmt.Sprint(created["document_sha256"])) != 64 {
		t.Errorf("the record of the creation is %v", created)
	}

	made := w.call(t, admin, http.MethodPost, path+"/endpoints", map[string]any{
		"curl": "curl " + notes + `/items/7?full=yes -H 'Authorization: Bearer hush' --json '{"text":"Hello"}'`, "name": "addItem",
	})
	if got := made.want(http.StatusCreated); got["name"] != "addItem" || got["method"] != "POST" || got["credential"].(map[string]any)["type"] != "bearer" {
		t.Errorf("the endpoint is %v", got)
	}
	if strings.Contains(string(made.body), "hush") {
		t.Errorf("the answer has the secret: %s", made.body)
	}
	w.call(t, admin, http.MethodPost, path+"/endpoints", map[string]any{"name": "addItem", "url": notes}).problem(http.StatusConflict, "conflict")
	w.call(t, admin, http.MethodPost, path+"/endpoints", map[string]any{"name": "listNotes", "url": notes}).problem(http.StatusConflict, "conflict")
	w.call(t, admin, http.MethodPatch, path+"/endpoints/ping", map[string]any{"name": "echo", "url": notes + "/echo/{word}", "filter": ".path"}).want(http.StatusOK)
	w.call(t, admin, http.MethodPatch, path+"/endpoints/echo", map[string]any{"output_schema": map[string]any{"type": "object"}}).want(http.StatusOK)
	if changed := w.readLatestDetail(t, "endpoint.update"); changed["before_sha256"] == changed["after_sha256"] || changed["after_sha256"] == nil {
		t.Errorf("the record of a new schema is %v", changed)
	}
	w.call(t, admin, http.MethodGet, path+"/endpoints/ping", nil).problem(http.StatusNotFound, "not-found")
	w.call(t, admin, http.MethodPost, path+"/sync_tools", nil).want(http.StatusOK)
	if tools := w.call(t, admin, http.MethodGet, path, nil).want(http.StatusOK)["discovered_tools"].([]any); len(tools) != 3 {
		t.Errorf("the tools are %v", tools)
	}
	called := w.call(t, admin, http.MethodPost, path+"/tools/echo/call", `{"arguments":{"word":"a/b"},"confirm":true}`).want(http.StatusCreated)
	if text := fmt.Sprint(called["content"]); called["outcome"] != "ok" || !strings.Contains(text, "/echo/a%2Fb") {
		t.Errorf("the call is %v", called)
	}
	w.call(t, admin, http.MethodDelete, path+"/endpoints/echo", nil).want(http.StatusNoContent)
	w.call(t, admin, http.MethodDelete, path+"/endpoints/listNotes", nil).problem(http.StatusNotFound, "not-found")
	for _, body := range []string{`{"name":"x","url":"ftp://a"}`, `{"name":"x y","url":"https://a.example/"}`, `{"url":"https://a.example/"}`, `{"curl":"wget a"}`,
		`{"name":"x","url":"http://169.254.169.254/"}`, `{"name":"x","url":"https://{host}/"}`} {
		w.call(t, admin, http.MethodPost, path+"/endpoints", body).problem(http.StatusUnprocessableEntity, "invalid")
	}
}

func TestDocument_IsReplaced(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	notes := serveNotes(t)
	admin, c := w.createKey(t, connectors.RoleAdmin), w.createHTTPAPI(t, w.Tenant)
	path := "/api/v1/connectors/" + c.Slug
	document := func() map[string]any {
		t.Helper()
		return w.call(t, admin, http.MethodGet, path+"/document?text=true", nil).want(http.StatusOK)
	}
	if got := document(); got["text"] != notesDocument || got["document_url"] != nil {
		t.Errorf("the document is %v", got)
	}
	w.call(t, admin, http.MethodPatch, path, map[string]any{"document_url": notes + "/openapi.json"}).want(http.StatusOK)
	if got := document(); got["document_url"] != notes+"/openapi.json" || got["text"] != nil {
		t.Errorf("the document is %v", got)
	}
	w.call(t, admin, http.MethodPatch, path, map[string]any{"document_url": notes + "/none"}).problem(http.StatusUnprocessableEntity, "invalid")
	w.call(t, admin, http.MethodPatch, path, map[string]any{"url": notes + "/none"}).problem(http.StatusUnprocessableEntity, "invalid")
	shorter := strings.Replace(notesDocument, `"title":"Notes"`, `"title":"Short"`, 1)
	w.call(t, admin, http.MethodPatch, path, map[string]any{"document": shorter, "url": notes}).want(http.StatusOK)
	if got := document(); got["text"] != shorter {
		t.Errorf("the document is %v", got)
	}
	split := strings.Replace(notesDocument, `{"type":"string"}`, `{"$ref":"schemas.yaml#/Id"}`, 1)
	if doc := w.call(t, admin, http.MethodPatch, path, map[string]any{"document": split}).problem(http.StatusUnprocessableEntity, "invalid"); !strings.Contains(doc["detail"].(string), `"schemas.yaml#/Id" points to another file`) {
		t.Errorf("an uploaded document with other files: %v", doc)
	}
	for _, body := range []map[string]any{{"document": ""}, {"document": "{}"}, {"document": shorter, "document_url": notes}, {"transport": "streamable_http"}} {
		w.call(t, admin, http.MethodPatch, path, body).problem(http.StatusUnprocessableEntity, "invalid")
	}
	mcp := "/api/v1/connectors/" + w.Connector(t).Slug
	w.call(t, admin, http.MethodPatch, mcp, map[string]any{"document": shorter}).problem(http.StatusUnprocessableEntity, "invalid")
	w.call(t, admin, http.MethodPatch, mcp, map[string]any{"transport": "api"}).problem(http.StatusUnprocessableEntity, "invalid")
	w.call(t, admin, http.MethodDelete, path, nil).want(http.StatusNoContent)
	var left int
	w.AsSystem(t, "select (select count(*) from api_documents) + (select count(*) from api_tools)", nil, &left)
	if left != 0 {
		t.Errorf("%d rows are left", left)
	}
}
