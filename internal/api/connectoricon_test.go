package api_test

import (
	"net/http"
	"testing"

	"patchbay/internal/connectors"
)

func TestConnector_HasTheServersIcon(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	viewer, c, bare := w.createKey(t, connectors.RoleViewer), w.Connector(t), w.Connector(t)
	icon := connectors.Icon{MediaType: "image/png", Picture: []byte("picture")}
	if err := w.Door().Connectors().SaveIcon(t.Context(), c.ID, &icon); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{c.ID.String(): "data:image/png;base64,cGljdHVyZQ==", bare.ID.String(): nil}
	list, _ := w.call(t, viewer, http.MethodGet, "/api/v1/connectors", nil).want(http.StatusOK)["items"].([]any)
	if len(list) != 2 {
		t.Fatalf("%v", list)
	}
	for _, one := range list {
		listed, _ := one.(map[string]any)
		id, _ := listed["id"].(string)
		got := w.call(t, viewer, http.MethodGet, "/api/v1/connectors/"+id, nil).want(http.StatusOK)
		if listed["icon"] != want[id] || got["icon"] != want[id] {
			t.Errorf("%s: %v in the list, %v alone, want %v", id, listed["icon"], got["icon"], want[id])
		}
	}
}
