package admin_test

import (
	"net/http"
	"testing"

	"patchbay/internal/connectors"
	"patchbay/internal/store"
)

func TestConnector_ShowsListeningState(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	b := d.signInAsRole(connectors.RoleAdmin)
	c := d.Connector(t)
	path := "/connectors/" + c.Slug
	b.get(path).want(t, http.StatusOK, "no: the server does not tell of them")

	d.TellsOfChanges(t, d.Tenant, c.ID)
	sys, stream := d.St.System(), store.Stream{Connector: c.ID, Instance: d.Instance}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(sys.Syncs().ReviewListeners(t.Context(), store.OwnedConnector{Tenant: d.Tenant, ID: c.ID}))
	b.get(path).want(t, http.StatusOK, "in a moment")
	_, err := sys.Syncs().ClaimStreams(t.Context(), d.Instance, 1)
	must(err)
	_, err = d.Door().Syncs().OpenStream(t.Context(), stream, nil, 0)
	must(err)
	b.get(path).want(t, http.StatusOK, "Listens for changes since")

	must(d.Door().Syncs().CloseStream(t.Context(), stream, store.StreamEnd{State: connectors.ListenStateOff, Reason: connectors.ListenFlood}))
	b.get(path).want(t, http.StatusOK, "Changes are not heard of", "more than 600 things within a minute")
	b.get(path+"/settings").want(t, http.StatusOK, "Listen again")
	b.submit(path+"/listen", nil).want(t, http.StatusOK, "listens for changes of")
	b.get(path).want(t, http.StatusOK, "in a moment")
}
