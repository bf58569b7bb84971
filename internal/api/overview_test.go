package api_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/google/uuid"

	"patchbay/internal/connectors"
	"patchbay/internal/store"
)

func TestTheOverviewTellsWhatTheHomePageShows(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	viewer := w.createKey(t, connectors.RoleViewer)
	empty := w.call(t, viewer, http.MethodGet, "/api/v1/overview", nil).want(http.StatusOK)
	if total := empty["total"].(map[string]any); total["calls"] != 0.0 || total["p95_ms"] != nil || len(empty["hours"].([]any)) != 24 {
		t.Errorf("of nothing: %v", empty)
	}

	c, a := w.Connector(t), w.Agent(t)
	w.Synced(t, c.ID, "search", "create")
	w.Connector(t, func(d *connectors.Draft) { d.Auth.Type = connectors.AuthBearer })
	var calls []store.OwnedCall
	for i, status := range []connectors.CallStatus{connectors.CallSuccess, connectors.CallSuccess, connectors.CallError} {
		calls = append(calls, store.OwnedCall{Tenant: w.Tenant, ToolCall: connectors.ToolCall{
			ID: connectors.ToolCallID{UUID: uuid.Must(uuid.NewV7())}, AgentID: &a.ID, AgentSlug: a.Slug, ConnectorID: &c.ID, ConnectorSlug: c.Slug,
			Kind: connectors.CallTool, Tool: "search", ExposedName: "search", Source: connectors.SourceGateway, Status: status,
			Outcome:   []connectors.CallOutcome{connectors.OutcomeOK, connectors.OutcomeOK, connectors.OutcomeToolError}[i],
			StartedAt: time.Now(), CompletedAt: new(time.Now()), Duration: 200 * time.Millisecond,
		}})
	}
	if err := w.St.System().Calls().EndCalls(t.Context(), calls); err != nil {
		t.Fatal(err)
	}
	got := w.call(t, viewer, http.MethodGet, "/api/v1/overview?hours=168", nil).want(http.StatusOK)
	total, needs, states := got["total"].(map[string]any), got["needs"].(map[string]any), got["connectors"].(map[string]any)
	if total["calls"] != 3.0 || total["errors"] != 1.0 || total["syncs"] != 1.0 || total["syncs_failed"] != 0.0 {
		t.Errorf("total = %v", total)
	}
	if p95 := total["p95_ms"].(float64); p95 < 180 || p95 > 220 {
		t.Errorf("p95 = %v", p95)
	}
	if needs["authorization"] != 1.0 || needs["approval"] != 0.0 || states["ok"] != 1.0 || got["tools"] != 2.0 {
		t.Errorf("needs = %v, connectors = %v, tools = %v", needs, states, got["tools"])
	}
	hours := got["hours"].([]any)
	if last := hours[167].(map[string]any); len(hours) != 168 || last["calls"] != 3.0 || last["tools"] != 2.0 {
		t.Errorf("the running hour is %v", last)
	}
	if w.call(t, viewer, http.MethodGet, "/api/v1/overview?hours=169", nil).want(http.StatusUnprocessableEntity) == nil {
		t.Error("no problem")
	}
}
