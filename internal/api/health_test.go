package api_test

import (
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"patchbay/internal/connectors"
	"patchbay/internal/store"
)

func TestAConnectorsHealthIsToldInThreeParts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	viewer := w.createKey(t, connectors.RoleViewer)
	c := w.Connector(t, func(d *connectors.Draft) { d.Auth.Type = connectors.AuthBearer })
	health := func() map[string]any {
		return w.call(t, viewer, http.MethodGet, "/api/v1/connectors/"+c.Slug, nil).want(http.StatusOK)["health"].(map[string]any)
	}
	times := cmpopts.IgnoreMapEntries(func(k string, v any) bool { return isTime(v) })
	expect := func(what string, reach, auth, fresh map[string]any, failures float64) {
		t.Helper()
		want := map[string]any{"reachable": reach, "authorized": auth, "fresh": fresh, "failures": failures}
		if diff := cmp.Diff(want, health(), times); diff != "" {
			t.Errorf("%s: %s", what, diff)
		}
	}
	expect("new",
		map[string]any{"state": "unknown", "since": nil, "down": false}, map[string]any{"state": "needs_person", "ends_at": nil},
		map[string]any{"state": "never", "as_of": nil}, 0)

	w.Credential(t, c.ID, nil, "token")
	w.Synced(t, c.ID, "search")
	expect("synced",
		map[string]any{"state": "up", "since": nil, "down": false}, map[string]any{"state": "ok", "ends_at": nil}, map[string]any{"state": "fresh"}, 0)

	run := w.Run(t, c.ID)
	_, err := w.Door().Syncs().Fail(t.Context(), run.ID, connectors.SyncError{Code: "timeout", Message: "It was silent.", Temporary: true}, store.ServerObservation{})
	if err != nil {
		t.Fatal(err)
	}
	expect("failing",
		map[string]any{"state": "failing", "down": false}, map[string]any{"state": "ok", "ends_at": nil}, map[string]any{"state": "fresh"}, 1)
}

func TestAConnectorsHoursAreCounted(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	viewer := w.createKey(t, connectors.RoleViewer)
	c := w.Connector(t)
	path := "/api/v1/connectors/" + c.Slug + "/health"
	empty := w.call(t, viewer, http.MethodGet, path, nil).want(http.StatusOK)
	if empty["uptime"] != nil || empty["latency_ms"] != nil || len(empty["hours"].([]any)) != 0 {
		t.Errorf("before a sync: %v", empty)
	}
	w.Synced(t, c.ID, "search")
	run := w.Run(t, c.ID)
	if _, err := w.Door().Syncs().Fail(t.Context(), run.ID, connectors.SyncError{Code: "timeout", Message: "It was silent."}, store.ServerObservation{}); err != nil {
		t.Fatal(err)
	}
	for _, query := range []string{"", "?hours=24", "?hours=168"} {
		got := w.call(t, viewer, http.MethodGet, path+query, nil).want(http.StatusOK)
		ok, failed := 0.0, 0.0
		for _, hour := range got["hours"].([]any) { // two, if the hour changed between the syncs
			ok, failed = ok+hour.(map[string]any)["ok"].(float64), failed+hour.(map[string]any)["failed"].(float64)
		}
		if ok != 1 || failed != 1 || got["uptime"] != 0.5 || got["latency_ms"] == nil {
			t.Errorf("%s: %v", query, got)
		}
		if state := got["health"].(map[string]any)["reachable"].(map[string]any)["state"]; state != "failing" {
			t.Errorf("%s: %v", query, state)
		}
	}
	w.call(t, viewer, http.MethodGet, path+"?hours=169", nil).problem(http.StatusUnprocessableEntity, "invalid")
}
