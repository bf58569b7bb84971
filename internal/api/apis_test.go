package api_test

import (
	"io"
	"net/http"
	"net/http/httptest"
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
	if got := called["structured_content"].(map[string]any); called["outcome"] != "ok" || got["path"] != "/v2/notes/7" || got["authorization"] != "Bearer hush" {
		t.Errorf("the call is %v", called)
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
	if err := apis.SaveTools(t.Context(), c.ID, []connectors.APITool{{Key: "GET /notes"}}); err != nil {
		t.Fatal(err)
	}
	return c
}
