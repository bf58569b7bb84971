package api_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"patchbay/internal/connectors"
)

func TestTenantDefaults_ApplyToNewThings(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	owner, admin := w.createKey(t, connectors.RoleOwner), w.createKey(t, connectors.RoleAdmin)
	const tenant = "/api/v1/tenant"
	contract := map[string]any{"approval": "always_ask", "sync_interval_s": 900.0, "max_definition_age_s": 900.0, "tool_changes": "hold_risky", "listen": "auto"}
	before := w.call(t, owner, http.MethodGet, tenant, nil).want(http.StatusOK)
	if diff := cmp.Diff(any(contract), before["defaults"]); diff != "" {
		t.Error(diff)
	}
	w.call(t, admin, http.MethodPost, "/api/v1/connectors", `{"name": "Old", "url": "https://old.example.com/"}`).want(http.StatusCreated)
	w.call(t, admin, http.MethodPost, "/api/v1/agents", `{"name": "Old"}`).want(http.StatusCreated)

	w.call(t, owner, http.MethodPatch, tenant, `{"defaults": {"approval": "trusted_only"}}`).want(http.StatusOK)
	after := w.call(t, owner, http.MethodPatch, tenant,
		`{"defaults": {"sync_interval_s": 3600, "max_definition_age_s": 0, "tool_changes": "hold_all", "listen": "off"}}`).want(http.StatusOK)
	own := map[string]any{"approval": "trusted_only", "sync_interval_s": 3600.0, "max_definition_age_s": 0.0, "tool_changes": "hold_all", "listen": "off"}
	if diff := cmp.Diff(any(own), after["defaults"]); diff != "" {
		t.Error(diff)
	}
	begins := func(c map[string]any) map[string]any {
		return map[string]any{"sync_interval_s": c["sync_interval_s"], "max_definition_age_s": c["max_definition_age_s"], "tool_changes": c["tool_changes"], "listen": c["listen"]}
	}
	want := begins(own)
	made := w.call(t, admin, http.MethodPost, "/api/v1/connectors", `{"name": "New", "url": "https://new.example.com/"}`).want(http.StatusCreated)
	w.call(t, admin, http.MethodPost, "/api/v1/import", `{"mcpServers": {"imported": {"url": "https://imported.example.com/"}}}`).want(http.StatusOK)
	for name, c := range map[string]map[string]any{
		"made": made, "imported": w.call(t, admin, http.MethodGet, "/api/v1/connectors/imported", nil).want(http.StatusOK),
	} {
		if diff := cmp.Diff(want, begins(c)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	said := w.call(t, admin, http.MethodPost, "/api/v1/connectors", `{"name": "Said", "url": "https://said.example.com/", "sync_interval_s": 60, "listen": "auto"}`).want(http.StatusCreated)
	if said["sync_interval_s"] != 60.0 || said["listen"] != "auto" || said["tool_changes"] != "hold_all" {
		t.Errorf("%v", said)
	}
	old := w.call(t, admin, http.MethodGet, "/api/v1/connectors/old", nil).want(http.StatusOK)
	if diff := cmp.Diff(begins(contract), begins(old)); diff != "" {
		t.Errorf("a connector that was there: %s", diff)
	}
	w.call(t, admin, http.MethodPost, "/api/v1/agents", `{"name": "Fresh"}`).want(http.StatusCreated)
	for slug, approval := range map[string]string{"old": "always_ask", "fresh": "trusted_only"} {
		if a := w.call(t, admin, http.MethodGet, "/api/v1/agents/"+slug, nil).want(http.StatusOK); a["approval"] != approval {
			t.Errorf("%s: %v", slug, a["approval"])
		}
	}
}

func TestTenantDefaults_AreValidated(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	owner := w.createKey(t, connectors.RoleOwner)
	for body, at := range map[string]string{
		`{"defaults": {"approval": "sometimes"}}`:                      "defaults.approval",
		`{"defaults": {"sync_interval_s": 59}}`:                        "defaults.sync_interval_s",
		`{"defaults": {"sync_interval_s": 31536001}}`:                  "defaults.sync_interval_s",
		`{"defaults": {"max_definition_age_s": 86401}}`:                "defaults.max_definition_age_s",
		`{"defaults": {"tool_changes": ""}}`:                           "defaults.tool_changes",
		`{"defaults": {"listen": null}}`:                               "defaults.listen",
		`{"name": "New", "defaults": {"listen": "off", "retries": 3}}`: "defaults.retries",
	} {
		got := w.call(t, owner, http.MethodPatch, "/api/v1/tenant", body)
		got.problem(http.StatusUnprocessableEntity, "invalid")
		if diff := cmp.Diff([]string{at}, got.locations()); diff != "" {
			t.Errorf("%s: %s", body, diff)
		}
	}
	after := w.call(t, owner, http.MethodGet, "/api/v1/tenant", nil).want(http.StatusOK)
	if after["name"] != "Acme" || after["defaults"].(map[string]any)["listen"] != "auto" {
		t.Errorf("a refused change left something behind: %v", after)
	}
}

func TestTheKeysThatSealAreNamedAndNeverShown(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	owner := w.createKey(t, connectors.RoleOwner)
	const keys = "/api/v1/tenant/sealing_keys"
	first := w.call(t, owner, http.MethodGet, keys, nil).want(http.StatusOK)
	w.Credential(t, w.Connector(t).ID, nil, "s3cret")
	w.CredentialIn(t, w.Other, w.ConnectorIn(t, w.Other).ID, nil, "theirs")
	got := w.call(t, owner, http.MethodGet, keys, nil)
	second := got.want(http.StatusOK)
	sealed := func(answer map[string]any) map[string]any { return answer["keys"].([]any)[0].(map[string]any) }
	if sealed(second)["sealed"].(float64)-sealed(first)["sealed"].(float64) != 1 {
		t.Errorf("%v, then %v", first, second)
	}
	if id := sealed(first)["id"]; id == w.Keyring.Primary().String() || second["own"] != true || sealed(second)["id"] != id || sealed(second)["seals"] != true || sealed(second)["known"] != true {
		t.Errorf("%v, want a key of the tenant's own, %s", second, id)
	}
	if len(second["keys"].([]any)) != 1 || second["rotation_unfinished"] != false || second["rotated_at"] != nil || second["created_at"] == nil {
		t.Errorf("%v", second)
	}
	if strings.Contains(string(got.body), "s3cret") {
		t.Errorf("%s", got.body)
	}
}

func TestTheInstallationSaysWhereItIs(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	got := w.call(t, w.createKey(t, connectors.RoleOwner), http.MethodGet, "/api/v1/installation", nil).want(http.StatusOK)
	base := got["base_url"].(string)
	if got["version"] == "" || base == "" || got["callback_url"] != base+"/oauth/callback" || got["gateway_url"] != base+"/mcp" {
		t.Errorf("%v", got)
	}
}
