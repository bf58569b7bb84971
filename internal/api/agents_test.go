package api_test

import (
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"patchbay/internal/connectors"
)

func TestAgentsAreMadeChangedAndDeleted(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	admin := w.createKey(t, connectors.RoleAdmin)
	made := w.call(t, admin, http.MethodPost, "/api/v1/agents", `{"name": "Night Shift"}`).want(http.StatusCreated)
	for field, want := range map[string]any{
		"slug": "night-shift", "name": "Night Shift", "description": "", "approval": "always_ask", "enabled": true,
	} {
		if made[field] != want {
			t.Errorf("%s is %v, want %v", field, made[field], want)
		}
	}
	path := "/api/v1/agents/night-shift"
	changed := w.call(t, admin, http.MethodPatch, path, `{"approval": "auto", "enabled": false}`).want(http.StatusOK)
	if changed["approval"] != "auto" || changed["enabled"] != false || changed["name"] != "Night Shift" {
		t.Errorf("%v", changed)
	}
	read := w.call(t, admin, http.MethodGet, "/api/v1/agents/"+made["id"].(string), nil).want(http.StatusOK)
	if diff := cmp.Diff(changed, read); diff != "" {
		t.Error(diff)
	}
	list := w.call(t, admin, http.MethodGet, "/api/v1/agents", nil).want(http.StatusOK)
	if diff := cmp.Diff([]any{read}, list["items"]); diff != "" {
		t.Error(diff)
	}
	if got := w.call(t, admin, http.MethodDelete, path, nil); got.status != http.StatusNoContent {
		t.Errorf("%d %s", got.status, got.body)
	}
	w.call(t, admin, http.MethodGet, path, nil).problem(http.StatusNotFound, "not-found")
}

func TestAgentsFieldsAreChecked(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	admin, agent := w.createKey(t, connectors.RoleAdmin), w.Agent(t)
	for body, at := range map[string]string{
		`{}`:                                    "name",
		`{"name": null}`:                        "name",
		`{"name": ""}`:                          "name",
		`{"name": "A", "approval": "never"}`:    "approval",
		`{"name": "A", "slug": "No Slug"}`:      "slug",
		`{"name": "A", "tokens": []}`:           "tokens",
		`{"name": "A", "enabled": "sometimes"}`: "enabled",
	} {
		got := w.call(t, admin, http.MethodPost, "/api/v1/agents", body)
		got.problem(http.StatusUnprocessableEntity, "invalid")
		if diff := cmp.Diff([]string{at}, got.locations()); diff != "" {
			t.Errorf("%s: %s", body, diff)
		}
	}
	taken := map[string]any{"name": "Other", "slug": agent.Slug}
	w.call(t, admin, http.MethodPost, "/api/v1/agents", taken).problem(http.StatusConflict, "conflict")
}
