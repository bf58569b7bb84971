package api_test

import (
	"crypto/rand"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"patchbay/internal/connectors"
)

func parseURL(t *testing.T, text string) *url.URL {
	t.Helper()
	u, err := url.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// createRegistry creates a registry of one agent.
func (w *world) createRegistry(t *testing.T, tenant connectors.TenantID, agent string) connectors.RegistryID {
	t.Helper()
	r, err := w.St.Tenant(tenant).Registries().Create(t.Context(), connectors.Registry{Name: "Team", Agents: []string{agent}}, []byte(rand.Text()+"123456"))
	if err != nil {
		t.Fatal(err)
	}
	return r.ID
}

func TestRegistry_URLIsShownOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	admin := w.createKey(t, connectors.RoleAdmin)
	agent := w.Agent(t)
	made := w.call(t, admin, http.MethodPost, "/api/v1/registries", map[string]any{"name": " Team ", "agents": []string{agent.Slug, agent.Slug}, "token_required": true}).want(http.StatusCreated)
	first := fmt.Sprint(made["url"])
	if !strings.HasPrefix(first, baseURL+"/registry/") || made["name"] != "Team" || fmt.Sprint(made["agents"]) != "["+agent.Slug+"]" || made["token_required"] != true {
		t.Errorf("created: %v", made)
	}
	path := "/api/v1/registries/" + fmt.Sprint(made["id"])
	for _, shown := range []map[string]any{
		w.call(t, admin, http.MethodGet, path, nil).want(http.StatusOK),
		w.call(t, admin, http.MethodPatch, path, map[string]any{"all_connectors": true}).want(http.StatusOK),
		listItems(w.call(t, admin, http.MethodGet, "/api/v1/registries", nil).want(http.StatusOK))[0],
	} {
		if _, ok := shown["url"]; ok {
			t.Errorf("shown again: %v", shown)
		}
	}
	rotated := w.call(t, admin, http.MethodPost, path+"/rotate_address", nil).want(http.StatusOK)
	if next := fmt.Sprint(rotated["url"]); next == first || !strings.HasPrefix(next, baseURL+"/registry/") || rotated["rotated_at"] == nil || len(rotated["agents"].([]any)) != 0 {
		t.Errorf("rotated: %v", rotated)
	}
	w.call(t, admin, http.MethodPost, "/api/v1/registries", map[string]any{"name": "A"}).problem(http.StatusUnprocessableEntity, "invalid")
	w.call(t, admin, http.MethodPost, "/api/v1/registries", map[string]any{"name": "A", "agents": []string{"none"}}).problem(http.StatusNotFound, "not-found")
}
