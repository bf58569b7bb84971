package admin_test

import (
	"net/http"
	"testing"

	"patchbay/internal/connectors"
	"patchbay/internal/mcp/mcptest"
	"patchbay/internal/testing/htmlcheck"
)

// addHangingServer adds a connector with a server that never lists its tools, and returns when it is asked and when that
// connection ends.
func (d *dashboard) addHangingServer() (asked, closed <-chan struct{}) {
	d.t.Helper()
	is, was := make(chan struct{}, 1), make(chan struct{}, 1)
	up := mcptest.Start(d.t, mcptest.Script{On: map[string]mcptest.Handler{"tools/list": func(_ http.ResponseWriter, r *http.Request, _ mcptest.Call) {
		is <- struct{}{}
		<-r.Context().Done()
		was <- struct{}{}
	}}})
	d.Connector(d.t, func(c *connectors.Draft) { c.Name, c.Slug, c.URL, c.RetryAttempts = "Linear", "linear", up.URL, 0 })
	return is, was
}

func TestSyncCancel_FromTheConnectorsPage(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	b := d.signInAsRole(connectors.RoleMember)
	asked, closed := d.addHangingServer()
	done := make(chan page, 1)
	go func() { done <- b.post("/connectors/linear/sync_tools", nil) }()
	<-asked
	c, err := d.Door().Connectors().Get(t.Context(), "linear")
	if err != nil {
		t.Fatal(err)
	}
	run := "/connectors/linear/runs/" + c.Running.String()
	other := d.signInAsRole(connectors.RoleMember)
	for _, path := range []string{"/connectors/linear", run} {
		p := other.get(path)
		p.want(t, http.StatusOK, "Syncing", `action="`+run+`/cancel"`, "Cancel sync of Linear")
		htmlcheck.Parse(t, p.Body).Sound(t)
		if d.signInAsRole(connectors.RoleViewer).get(path).says(run + "/cancel") {
			t.Errorf("%s: a viewer may cancel", path)
		}
	}
	other.submit(run+"/cancel", nil).want(t, http.StatusOK, "Cancelled the sync of Linear. No tools changed.", "Cancelled by")
	<-closed
	if p := <-done; p.Status != http.StatusSeeOther || p.Location != "/connectors/linear" {
		t.Errorf("the request of the sync: %d to %q", p.Status, p.Location)
	}
	if p := b.get("/connectors/linear"); p.says("Sync failed") || p.says("Syncing") {
		t.Error("it failed")
	}
	other.get("/connectors/linear/runs").want(t, http.StatusOK, "Cancelled", "by ")
	other.submit(run+"/cancel", nil).want(t, http.StatusOK, "This sync was cancelled.")
}
