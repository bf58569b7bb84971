package admin_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"patchbay/internal/connectors"
)

func (d *dashboard) createAuditStream(tenant connectors.TenantID) connectors.AuditStreamID {
	d.t.Helper()
	s := connectors.AuditStream{Name: "SIEM", Kind: connectors.StreamHTTPS, URL: "https://siem.example.com/in", Format: connectors.StreamNDJSON, Header: "Authorization"}
	id, err := d.St.Tenant(tenant).AuditStreams().Create(d.t.Context(), s, "Bearer planted-secret")
	if err != nil {
		d.t.Fatal(err)
	}
	return id
}

func TestAuditStreamPages_AddTestPauseAndDelete(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	there := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer planted-secret" {
			t.Errorf("headers = %v", r.Header)
		}
	}))
	t.Cleanup(there.Close)
	b := d.signInAsRole(connectors.RoleAdmin)
	b.get("/audit").want(t, http.StatusOK, `href="/audit/streams"`)
	b.get("/audit/streams").want(t, http.StatusOK, "No audit streams yet", "Add stream")
	bad := b.post("/audit/streams", url.Values{"name": {""}, "kind": {"https"}, "url": {there.URL}, "format": {"ndjson"}, "secret": {"Bearer planted-secret"}})
	bad.want(t, http.StatusUnprocessableEntity)
	if bad.says("planted-secret") {
		t.Error("the page shows the secret again")
	}
	b.post("/audit/streams", url.Values{"name": {"SIEM"}, "kind": {"https"}, "url": {there.URL}, "format": {"ndjson"}, "secret": {"Bearer planted-secret"}}).want(t, http.StatusSeeOther)
	list, err := d.Door().AuditStreams().List(t.Context())
	if err != nil || len(list) != 1 {
		t.Fatalf("%+v, %v", list, err)
	}
	path := "/audit/streams/" + list[0].ID.String()
	shown := b.get(path)
	shown.want(t, http.StatusOK, "Stream added.", "Audit log", "not sent yet")
	if shown.says("planted-secret") {
		t.Error("the page shows the secret")
	}
	b.post(path+"/test", nil).want(t, http.StatusSeeOther)
	b.get(path).want(t, http.StatusOK, "Test delivered in")
	b.post(path, url.Values{"name": {"Renamed"}, "url": {there.URL + "/other"}, "format": {"json"}, "header": {"Authorization"}}).want(t, http.StatusSeeOther)
	b.post(path, url.Values{"name": {"Renamed"}, "url": {"https://elsewhere.example.com/"}, "format": {"json"}, "header": {"Authorization"}}).
		want(t, http.StatusUnprocessableEntity, "Enter the header value again")
	b.post(path, url.Values{"enabled": {"off"}}).want(t, http.StatusSeeOther)
	b.get("/audit/streams").want(t, http.StatusOK, "Renamed", "Off")
	b.post(path+"/delete", nil).want(t, http.StatusSeeOther)
	b.get("/audit/streams").want(t, http.StatusOK, "No audit streams yet")
	if strings.Contains(d.Rows(t), "planted-secret") {
		t.Error("the secret is stored in plain")
	}
}
