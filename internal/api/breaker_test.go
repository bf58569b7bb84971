package api_test

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"patchbay/internal/connectors"
)

func TestAConnectorTellsWhetherCallsGoThrough(t *testing.T) {
	t.Parallel()
	w := newCallWorld(t, connectors.ApprovalAuto)
	broken := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) }))
	t.Cleanup(broken.Close)
	c := w.Connector(t, withURL(broken.URL), func(d *connectors.Draft) { d.Name, d.Slug, d.RetryAttempts = "Broken", "broken", 0 })
	w.Synced(t, c.ID, "search")
	viewer, member := w.createKey(t, connectors.RoleViewer), w.createKey(t, connectors.RoleMember)
	breaker := func() map[string]any {
		return w.call(t, viewer, http.MethodGet, "/api/v1/connectors/broken", nil).want(http.StatusOK)["breaker"].(map[string]any)
	}
	if got := breaker(); got["state"] != "closed" || got["opened_at"] != nil || got["retry_at"] != nil || got["failures"] != 0.0 || got["instance_id"] != w.Instance.String() {
		t.Errorf("%v", got)
	}
	for range 2 { // it takes two agents
		agent := w.Agent(t, func(a *connectors.Agent) { a.Approval = connectors.ApprovalAuto })
		w.Grant(t, agent.ID, c.ID)
		for range 3 {
			w.call(t, member, http.MethodPost, "/api/v1/agents/"+agent.Slug+"/tool_calls", `{"tool":"mcp_broken__search","arguments":{}}`).want(http.StatusCreated)
		}
	}
	got := breaker()
	if got["state"] != "open" || got["agents"] != 0.0 || got["failures"].(float64) < 5 {
		t.Errorf("%v", got)
	}
	opened, err := time.Parse(time.RFC3339Nano, got["opened_at"].(string))
	retry, err2 := time.Parse(time.RFC3339Nano, got["retry_at"].(string))
	if err != nil || err2 != nil || !retry.After(opened) {
		t.Errorf("%v", got)
	}
	items, _ := w.call(t, viewer, http.MethodGet, "/api/v1/connectors", nil).want(http.StatusOK)["items"].([]any)
	states := map[any]any{}
	for _, item := range items {
		c := item.(map[string]any)
		states[c["slug"]] = c["breaker"].(map[string]any)["state"]
	}
	if states["broken"] != "open" || states["box"] != "closed" {
		t.Errorf("%v", states)
	}
}
