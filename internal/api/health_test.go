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
	viewer := w.key(t, connectors.RoleViewer)
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
		map[string]any{"state": "unknown", "since": nil}, map[string]any{"state": "needs_person", "ends_at": nil},
		map[string]any{"state": "never", "as_of": nil}, 0)

	w.Credential(t, c.ID, nil, "token")
	w.Synced(t, c.ID, "search")
	expect("synced",
		map[string]any{"state": "up", "since": nil}, map[string]any{"state": "ok", "ends_at": nil}, map[string]any{"state": "fresh"}, 0)

	run := w.Run(t, c.ID)
	_, err := w.Door().FailSync(t.Context(), run.ID, connectors.SyncError{Code: "timeout", Message: "It was silent.", Temporary: true}, store.Seen{})
	if err != nil {
		t.Fatal(err)
	}
	expect("failing",
		map[string]any{"state": "failing"}, map[string]any{"state": "ok", "ends_at": nil}, map[string]any{"state": "fresh"}, 1)
}
