package api_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"patchbay/internal/connectors"
)

func TestShaping_IsSetPreviewedAndCleared(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	viewer, admin, agent, c := w.createKey(t, connectors.RoleViewer), w.createKey(t, connectors.RoleAdmin), w.Agent(t), w.Connector(t)
	w.Synced(t, c.ID, "search")
	path := "/api/v1/agents/" + agent.Slug + "/connectors/" + c.Slug
	rule := map[string]any{"fields": ".items |= map({id})", "budget": 1000}
	w.call(t, admin, http.MethodPut, path+"/tools/search/shaping", rule).problem(http.StatusNotFound, "not-found") // no grant
	w.Grant(t, agent.ID, c.ID)
	w.OldCalls(t, c, "search", 1, 2)
	text := `{"items":[` + strings.Repeat(`{"id":1,"body":"`+strings.Repeat("word ", 60)+`"},`, 60) + `{"id":2}]}`
	content, err := json.Marshal([]any{map[string]any{"type": "text", "text": text}})
	if err != nil {
		t.Fatal(err)
	}
	w.AsSystem(t, "update tool_calls set content = $1", []any{content})
	preview := w.call(t, viewer, http.MethodPost, path+"/tools/search/shaping/preview", rule).want(http.StatusOK)
	answers, advice := preview["answers"].([]any), preview["advice"].([]any)
	if len(answers) != 2 || len(advice) != 1 {
		t.Fatalf("%v", preview)
	}
	first := answers[0].(map[string]any)
	if first["shortened"] != true || first["summary"] != "1 field left out" || first["tokens_after"].(float64) >= first["tokens_before"].(float64)/4 {
		t.Errorf("%v", first)
	}
	if got := advice[0].(map[string]any); got["field"] != ".items[].body" || got["percent"].(float64) < 90 || got["fields"] != ".items |= map({id}) | del(.items[]?.body?)" {
		t.Errorf("%v", got)
	}
	w.call(t, viewer, http.MethodPut, path+"/tools/search/shaping", rule).problem(http.StatusForbidden, "denied")
	w.call(t, admin, http.MethodPut, path+"/tools/none/shaping", rule).problem(http.StatusNotFound, "not-found")
	for _, bad := range []map[string]any{{"budget": 5}, {"fields": "map("}, {"fields": "input"}} {
		w.call(t, admin, http.MethodPut, path+"/tools/search/shaping", bad).problem(http.StatusUnprocessableEntity, "invalid")
	}
	if got := w.call(t, admin, http.MethodPut, path+"/tools/search/shaping", rule); got.status != http.StatusNoContent {
		t.Fatalf("%d %s", got.status, got.body)
	}
	shaping := func() any {
		grants := w.call(t, viewer, http.MethodGet, "/api/v1/agents/"+agent.Slug+"/connectors", nil).want(http.StatusOK)["items"].([]any)
		return grants[0].(map[string]any)["shaping"]
	}
	if diff := cmp.Diff(any([]any{map[string]any{"tool": "search", "fields": rule["fields"], "budget": 1000.0}}), shaping()); diff != "" {
		t.Error(diff)
	}
	w.Grant(t, agent.ID, c.ID) // a changed grant keeps it
	if len(shaping().([]any)) != 1 {
		t.Error("a change of the grant dropped the rule")
	}
	if got := w.call(t, admin, http.MethodDelete, path+"/tools/search/shaping", nil); got.status != http.StatusNoContent || len(shaping().([]any)) != 0 {
		t.Errorf("%d %s", got.status, got.body)
	}
	w.AsSystem(t, "update tenants set call_history = 'none'", nil)
	w.call(t, admin, http.MethodPut, path+"/tools/search/shaping", rule).problem(http.StatusConflict, "conflict")
}
