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
	b.get(path).want(t, http.StatusOK, "not supported")

	d.TellsOfChanges(t, d.Tenant, c.ID)
	sys, stream := d.St.System(), store.Stream{Connector: c.ID, Instance: d.Instance}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(sys.Syncs().ReviewListeners(t.Context(), store.OwnedConnector{Tenant: d.Tenant, ID: c.ID}))
	b.get(path).want(t, http.StatusOK, "starting")
	_, err := sys.Syncs().ClaimStreams(t.Context(), d.Instance, 1)
	must(err)
	_, err = d.Door().Syncs().OpenStream(t.Context(), stream, nil, 0)
	must(err)
	b.get(path).want(t, http.StatusOK, "Listening for changes")

	must(d.Door().Syncs().CloseStream(t.Context(), stream, store.StreamEnd{State: connectors.ListenStateOff, Reason: connectors.ListenFlood}))
	b.get(path).want(t, http.StatusOK, "Listening suspended", "over 600 messages in a minute")
	b.get(path+"/settings").want(t, http.StatusOK, "Resume listening")
	b.submit(path+"/listen", nil).want(t, http.StatusOK, "Listening to “")
	b.get(path).want(t, http.StatusOK, "starting")
}
