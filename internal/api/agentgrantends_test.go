package api_test

import (
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"patchbay/internal/connectors"
)

// A change without ends keeps until, so that no temporary right becomes permanent. Ends of single tools go with the tools that
// it replaces.
func TestAgentGrant_UntilStaysUnlessSent(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	admin, agent, c := w.createKey(t, connectors.RoleAdmin), w.Agent(t), w.Connector(t)
	path := "/api/v1/agents/" + agent.Slug + "/connectors"
	for _, step := range []struct {
		body  string
		ends  map[string]any
		ended bool
	}{
		{`{"tools": ["a"], "ends": {"until": "2090-01-31T13:00:00.9+01:00", "tools": [{"tool": "b", "until": null}]}}`,
			map[string]any{"until": "2090-01-31T12:00:00Z", "tools": []any{map[string]any{"tool": "b", "until": nil}}}, false},
		{`{"tools": ["a", "c"]}`, map[string]any{"until": "2090-01-31T12:00:00Z"}, false},
		{`{"tools": ["a"], "ends": {"until": "2001-01-01T00:00:00Z"}}`, map[string]any{"until": "2001-01-01T00:00:00Z"}, true},
		{`{"tools": ["a"], "ends": {}}`, map[string]any{}, false},
	} {
		if got := w.call(t, admin, http.MethodPut, path+"/"+c.Slug, step.body); got.status != http.StatusNoContent {
			t.Fatalf("%s: %d %s", step.body, got.status, got.body)
		}
		got := w.call(t, admin, http.MethodGet, path, nil).want(http.StatusOK)["items"].([]any)[0].(map[string]any)
		if diff := cmp.Diff(step.ends, got["ends"]); diff != "" || got["ended"] != step.ended {
			t.Errorf("%s: ended %v: %s", step.body, got["ended"], diff)
		}
	}
	got := w.call(t, admin, http.MethodPut, path+"/"+c.Slug, `{"tools": ["a"], "ends": {"tools": [{"tool": "", "until": null}]}}`)
	got.problem(http.StatusUnprocessableEntity, "invalid")
}
