package api_test

import (
	"net/http"
	"testing"

	"patchbay/internal/connectors"
	"patchbay/internal/store"
)

func TestTasksAreListedApartFromOtherCalls(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	viewer, a, c := w.createKey(t, connectors.RoleViewer), w.Agent(t), w.Connector(t)
	w.createEndedCall(t, a, c, func(*connectors.ToolCall) {})
	var newest connectors.ToolCallID
	for range 3 {
		task := connectors.ToolCall{
			ID: newCallID(t), AgentID: &a.ID, AgentSlug: a.Slug, ConnectorID: &c.ID, ConnectorSlug: c.Slug, Kind: connectors.CallTool, Tool: "long",
			ExposedName: connectors.ExposedName(c.Slug, "long"), Source: connectors.SourceGateway, Status: connectors.CallRunning, InstanceID: &w.Instance,
		}
		if err := w.St.System().Calls().BeginCalls(t.Context(), []store.OwnedCall{{Tenant: w.Tenant, ToolCall: task}}); err != nil {
			t.Fatal(err)
		}
		if err := w.Door().Calls().SaveCallTask(t.Context(), task.ID, store.CallTask{State: []byte(`{"status":"working"}`), Handle: "handle of " + task.ID.String()}); err != nil {
			t.Fatal(err)
		}
		newest = task.ID
	}
	const calls = "/api/v1/tool_calls"
	if all := w.call(t, viewer, http.MethodGet, calls, nil).want(http.StatusOK); len(all["items"].([]any)) != 4 {
		t.Errorf("%v", all)
	}
	first := w.call(t, viewer, http.MethodGet, calls+"?task=true&limit=2", nil).want(http.StatusOK)
	items := first["items"].([]any)
	if len(items) != 2 || items[0].(map[string]any)["id"] != newest.String() || items[0].(map[string]any)["task"] == nil {
		t.Errorf("%v", first)
	}
	rest := w.call(t, viewer, http.MethodGet, calls+"?task=true&limit=2&cursor="+first["next_cursor"].(string), nil).want(http.StatusOK)
	if len(rest["items"].([]any)) != 1 || rest["next_cursor"] != nil {
		t.Errorf("%v", rest)
	}
	of := w.call(t, viewer, http.MethodGet, "/api/v1/agents/"+a.Slug+"/tool_calls?task=true&status=success", nil).want(http.StatusOK)
	if len(of["items"].([]any)) != 0 {
		t.Errorf("%v", of)
	}
	w.call(t, viewer, http.MethodGet, calls+"?task=perhaps", nil).problem(http.StatusUnprocessableEntity, "invalid")
}
