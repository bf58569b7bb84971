package admin_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"patchbay/internal/connectors"
	"patchbay/internal/scim"
	"patchbay/internal/store"
)

func newSCIM(t testing.TB, st *store.Store, base *url.URL) *scim.Service {
	t.Helper()
	s, err := scim.New(scim.Options{Store: st, BaseURL: base})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestSCIMPage_ShowsTheTokenOnce(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	b := d.signInAsRole(connectors.RoleOwner)
	const token = "pb_scim_"
	off := b.get("/settings/scim")
	off.want(t, http.StatusOK, "Turn on SCIM")
	if strings.Contains(off.Body, "/settings/scim/disable") {
		t.Error("SCIM can be turned off while it is off")
	}
	b.post("/settings/scim", nil).want(t, http.StatusOK, token, d.base+"/scim/v2", "shown only once")
	on := b.get("/settings/scim")
	on.want(t, http.StatusOK, "Last request", "/settings/scim/rotate", "/settings/scim/disable")
	if strings.Contains(on.Body, "shown only once") {
		t.Error("the page shows the token again")
	}
	b.post("/settings/scim/rotate", nil).want(t, http.StatusOK, token, "shown only once")
	b.post("/settings/scim/disable", nil).want(t, http.StatusSeeOther)
	b.get("/settings/scim").want(t, http.StatusOK, "Turn on SCIM")
}
