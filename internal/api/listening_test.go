package api_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"patchbay/internal/connectors"
	"patchbay/internal/store"
)

func TestConnector_HasListeningState(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c, viewer, admin := w.Connector(t), w.createKey(t, connectors.RoleViewer), w.createKey(t, connectors.RoleAdmin)
	path := "/api/v1/connectors/" + c.Slug
	listening := func() any { return w.call(t, viewer, http.MethodGet, path, nil).want(http.StatusOK)["listening"] }
	if got := listening(); got != nil {
		t.Errorf("before the server says that it tells of changes: %v", got)
	}
	w.TellsOfChanges(t, w.Tenant, c.ID)
	sys, stream := w.St.System(), store.Stream{Connector: c.ID, Instance: w.Instance}
	for _, step := range []error{
		sys.Syncs().ReviewListeners(t.Context(), store.OwnedConnector{Tenant: w.Tenant, ID: c.ID}),
		dropFirst(sys.Syncs().ClaimStreams(t.Context(), w.Instance, 1)),
		dropFirst(w.Door().Syncs().OpenStream(t.Context(), stream, nil, 0)),
		w.Door().Syncs().RecordListChanges(t.Context(), stream, store.ListChanges{Times: 1, At: time.Now()}),
	} {
		if step != nil {
			t.Fatal(step)
		}
	}
	if got, _ := listening().(map[string]any); got["state"] != "listening" || got["reason"] != "" || !isTime(got["since"]) || !isTime(got["last_notified_at"]) {
		t.Errorf("%v", got)
	}
	if err := w.Door().Syncs().CloseStream(t.Context(), stream, store.StreamEnd{State: connectors.ListenStateOff, Reason: connectors.ListenFlood}); err != nil {
		t.Fatal(err)
	}
	if got, _ := listening().(map[string]any); got["state"] != "off" || got["reason"] != connectors.ListenFlood.Sentence() {
		t.Errorf("%v", got)
	}
	again := w.call(t, admin, http.MethodPost, path+"/listen", nil).want(http.StatusOK)
	if got, _ := again["listening"].(map[string]any); got["state"] != "waiting" || got["reason"] != "" {
		t.Errorf("%v", got)
	}
	items, _ := w.call(t, viewer, http.MethodGet, "/api/v1/connectors", nil).want(http.StatusOK)["items"].([]any)
	if diff := cmp.Diff(again["listening"], items[0].(map[string]any)["listening"]); diff != "" {
		t.Error(diff)
	}
}

func dropFirst[T any](_ T, err error) error { return err }
