package api_test

import (
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"patchbay/internal/connectors"
)

func TestAllowance_IsListedAndEnded(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	viewer, member, agent, c := w.createKey(t, connectors.RoleViewer), w.createKey(t, connectors.RoleMember), w.Agent(t), w.Connector(t)
	w.Synced(t, c.ID, "search")
	w.Grant(t, agent.ID, c.ID)
	w.AllowanceIn(t, w.Tenant, agent.ID, c.ID, "search")
	path := "/api/v1/agents/" + agent.Slug
	items := func() []any {
		return w.call(t, viewer, http.MethodGet, path+"/allowances", nil).want(http.StatusOK)["items"].([]any)
	}
	listed := items()
	if len(listed) != 1 {
		t.Fatalf("%v", listed)
	}
	got := listed[0].(map[string]any)
	delete(got, "until")
	want := map[string]any{"connector_id": c.ID.String(), "connector": c.Slug, "name": c.Name, "kind": "tool", "tool": "search", "granted_by": "Ada", "in_force": true}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	why := path + "/tools/" + connectors.ExposedName(c.Slug, "search") + "/why"
	if w.call(t, viewer, http.MethodGet, why, nil).want(http.StatusOK)["asks"] != false {
		t.Error("the allowed tool asks")
	}
	one := path + "/connectors/" + c.Slug + "/allowances/search"
	w.call(t, viewer, http.MethodDelete, one, nil).problem(http.StatusForbidden, "denied")
	if got := w.call(t, member, http.MethodDelete, one, nil); got.status != http.StatusNoContent {
		t.Errorf("%d %s", got.status, got.body)
	}
	if w.call(t, viewer, http.MethodGet, why, nil).want(http.StatusOK)["asks"] != true || len(items()) != 0 {
		t.Error("the ended allowance is in force")
	}
	w.call(t, member, http.MethodDelete, one, nil).problem(http.StatusNotFound, "not-found")
}
