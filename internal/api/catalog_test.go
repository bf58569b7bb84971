package api_test

import (
	"net/http"
	"testing"

	"patchbay/internal/catalog"
	"patchbay/internal/connectors"
)

// builtinCatalog is the built-in catalog.
func builtinCatalog(t *testing.T) *catalog.Catalog {
	t.Helper()
	c, err := catalog.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestTheCatalogIsListedAndAddedFrom(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	viewer, admin := w.createKey(t, connectors.RoleViewer), w.createKey(t, connectors.RoleAdmin)
	all := w.call(t, viewer, http.MethodGet, "/api/v1/catalog", nil).want(http.StatusOK)
	if items, _ := all["items"].([]any); len(items) < 40 || all["next_cursor"] != nil {
		t.Fatalf("%d servers", len(items))
	}
	linear := func() map[string]any {
		t.Helper()
		got := w.call(t, viewer, http.MethodGet, "/api/v1/catalog?q=linear&category=projects&auth=oauth2", nil).want(http.StatusOK)
		items, _ := got["items"].([]any)
		if len(items) != 1 {
			t.Fatalf("%v", got)
		}
		item, _ := items[0].(map[string]any)
		return item
	}
	before := linear()
	signs, _ := before["auth"].(map[string]any)
	if before["connector"] != nil || before["url"] != "https://mcp.linear.app/mcp" || signs["type"] != "oauth2" || before["source"] == nil || before["verified"] == nil {
		t.Errorf("%v", before)
	}
	w.call(t, viewer, http.MethodPost, "/api/v1/catalog/linear/add", nil).want(http.StatusForbidden)
	made := w.call(t, admin, http.MethodPost, "/api/v1/catalog/linear/add", nil).want(http.StatusCreated)
	if made["slug"] != "linear" || made["status"] != "never_synced" {
		t.Errorf("%v", made)
	}
	if have, _ := linear()["connector"].(map[string]any); have["slug"] != "linear" {
		t.Errorf("%v", have)
	}
	w.call(t, admin, http.MethodPost, "/api/v1/catalog/linear/add", nil).want(http.StatusConflict)
	w.call(t, admin, http.MethodPost, "/api/v1/catalog/nobody/add", nil).want(http.StatusNotFound)
	w.call(t, viewer, http.MethodGet, "/api/v1/catalog?auth=magic", nil).want(http.StatusUnprocessableEntity)
}

func TestARegistrysListIsImported(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	admin := w.createKey(t, connectors.RoleAdmin)
	document := `{"servers": [
		{"server": {"name": "com.example/weather", "title": "Weather", "description": "<script>alert(1)</script>", "version": "1", "remotes": [{"type": "sse", "url": "https://weather.example.com/sse", "headers": [{"name": "Authorization", "value": "Bearer {token}", "isRequired": true, "isSecret": true}]}]}},
		{"server": {"name": "com.example/local", "version": "1", "packages": [{"registryType": "npm", "identifier": "x"}]}}
	], "metadata": {"nextCursor": "more", "count": 2}}`
	got := w.call(t, admin, http.MethodPost, "/api/v1/import", document).want(http.StatusOK)
	items, _ := got["items"].([]any)
	made, _ := items[0].(map[string]any)
	if got["created"] != 1.0 || got["refused"] != 1.0 || made["missing"] != "token" || made["slug"] != "weather" {
		t.Errorf("%v", got)
	}
	again := w.call(t, admin, http.MethodPost, "/api/v1/import", document).want(http.StatusOK)
	if again["unchanged"] != 1.0 {
		t.Errorf("%v", again)
	}
}
