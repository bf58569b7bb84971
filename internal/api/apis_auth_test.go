package api_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"patchbay/internal/connectors"
)

const keyDocument = `{"openapi":"3.1.0","info":{"title":"Keys","version":"2"},"servers":[{"url":"BASE/v2"}],"security":[{"key":[]},{"oauth":["read"]}],
	"paths":{"/notes/{id}":{"get":{"operationId":"getNote","parameters":[{"name":"id","in":"path","required":true,"schema":{"type":"string"}}],
		"responses":{"200":{"description":"","content":{"application/json":{"schema":{"type":"object"}}}}}}}},
	"components":{"securitySchemes":{"key":{"type":"apiKey","in":"query","name":"api_key"},
		"oauth":{"type":"oauth2","flows":{"authorizationCode":{"authorizationUrl":"https://id.example.com/authorize","tokenUrl":"https://id.example.com/token","scopes":{"read":""}}}}}}}`

func TestHTTPAPI_KeyInTheQueryIsSecret(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var got string
	api := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		got = r.URL.Query().Get("api_key")
		rw.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(rw, `{"self":"`+r.URL.RequestURI()+`"}`)
	}))
	t.Cleanup(api.Close)
	documents := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(rw, strings.ReplaceAll(keyDocument, "BASE", api.URL))
	}))
	t.Cleanup(documents.Close)
	admin := w.createKey(t, connectors.RoleAdmin)
	path := "/api/v1/connectors/keys"
	const key = "very-secret-key"

	made := w.call(t, admin, http.MethodPost, "/api/v1/connectors", map[string]any{
		"name": "Keys", "kind": "http", "document_url": documents.URL + "/openapi.json", "operations": []string{"GET /notes/{id}"},
		"auth": map[string]any{"type": "api_key", "in": "query", "header": "api_key", "key": key},
	}).want(http.StatusCreated)
	if made["server_url"] != api.URL+"/v2" || made["auth"].(map[string]any)["in"] != "query" {
		t.Errorf("the connector is %v", made)
	}
	methods := w.call(t, admin, http.MethodGet, path+"/sign_in_methods", nil).want(http.StatusOK)["items"].([]any)
	if first, second := methods[0].(map[string]any), methods[1].(map[string]any); first["in"] != "query" || first["header"] != "api_key" ||
		second["token_endpoint"] != "https://id.example.com/token" || second["scopes"].([]any)[0] != "read" {
		t.Errorf("the ways to sign in are %v", methods)
	}
	w.call(t, admin, http.MethodPost, path+"/sync_tools", nil).want(http.StatusOK)
	called := w.call(t, admin, http.MethodPost, path+"/tools/getNote/call", `{"arguments":{"id":"7"},"confirm":true}`).want(http.StatusCreated)
	api.Close()
	failed := w.call(t, admin, http.MethodPost, path+"/tools/getNote/call", `{"arguments":{"id":"7"},"confirm":true}`).want(http.StatusCreated)
	recorded := w.call(t, admin, http.MethodGet, "/api/v1/tool_calls?limit=10", nil).want(http.StatusOK)
	for _, answer := range []map[string]any{called, failed, recorded} {
		if text, _ := json.Marshal(answer); strings.Contains(string(text), key) {
			t.Errorf("the key is in %s", text)
		}
	}
	if got != key || failed["outcome"] == "ok" {
		t.Errorf("the API got the key %q; the second call is %v", got, failed)
	}
	w.call(t, admin, http.MethodPatch, path, `{"server_url":"https://elsewhere.example.com"}`).want(http.StatusConflict)
	w.call(t, admin, http.MethodPatch, path, `{"auth":{"in":"header","header":"X-Key"}}`).want(http.StatusOK)
}

func TestHTTPAPI_OAuthEndpointsAreOfTheDocument(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	admin := w.createKey(t, connectors.RoleAdmin)
	made := w.call(t, admin, http.MethodPost, "/api/v1/connectors", map[string]any{
		"name": "Keys", "kind": "http", "url": "https://api.example.com", "document": strings.ReplaceAll(keyDocument, "BASE", ""), "operations": []string{"GET /notes/{id}"},
		"auth": map[string]any{"type": "oauth2", "client_id": "me"},
	}).want(http.StatusCreated)
	if auth := made["auth"].(map[string]any); auth["authorization_endpoint"] != "https://id.example.com/authorize" || auth["token_endpoint"] != "https://id.example.com/token" {
		t.Errorf("the authentication is %v", auth)
	}
	scopes := func() string {
		t.Helper()
		connector, err := w.Door().Connectors().Get(t.Context(), connectors.Ref(made["id"].(string)))
		if err != nil {
			t.Fatal(err)
		}
		all, err := w.Door().APIs().Scopes(t.Context(), connector.ID)
		if err != nil {
			t.Fatal(err)
		}
		return strings.Join(all, " ")
	}
	if got := scopes(); got != "read" {
		t.Errorf("the picked operations need %q", got)
	}
	w.call(t, admin, http.MethodPatch, "/api/v1/connectors/keys/operations", `{"remove":["GET /notes/{id}"]}`).want(http.StatusNoContent)
	if got := scopes(); got != "" {
		t.Errorf("no operation needs %q", got)
	}

	document := strings.ReplaceAll(keyDocument, "BASE", "")
	before, _, _ := strings.Cut(document, `"oauth":{`)
	document = before + `"oauth":{"type":"openIdConnect","openIdConnectUrl":"https://id.example.com/.well-known/openid-configuration"}}}}`
	made = w.call(t, admin, http.MethodPost, "/api/v1/connectors", map[string]any{
		"name": "Discovered", "kind": "http", "url": "https://api.example.com", "document": document, "operations": []string{"GET /notes/{id}"},
		"auth": map[string]any{"type": "oauth2", "client_id": "me"},
	}).want(http.StatusCreated)
	if auth := made["auth"].(map[string]any); auth["issuer"] != "https://id.example.com" || auth["token_endpoint"] != nil || scopes() != "read" {
		t.Errorf("the authentication is %v, for %q", auth, scopes())
	}
}
