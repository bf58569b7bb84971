package admin_test

import (
	"net/http"
	"testing"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/store"
)

// failSyncs stores a sync that failed for lack of a response.
func (d *dashboard) failSyncs(id connectors.ConnectorID, code string) {
	d.t.Helper()
	run := d.Run(d.t, id)
	e := connectors.SyncError{Code: code, Message: "The server didn't answer within 30 seconds. Try again, or increase the connector's timeout.", Temporary: true}
	if _, err := d.Door().Syncs().Fail(d.t.Context(), run.ID, e, store.ServerObservation{}); err != nil {
		d.t.Fatal(err)
	}
}

func TestHealth_OverviewHasThreeLines(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	c := d.addConnectorAt("Linear", "https://mcp.example.com/mcp")
	b := d.signInAsRole(connectors.RoleViewer)
	b.get("/connectors/linear").want(t, http.StatusOK, "Health", "Not checked yet", "Not needed", "None yet")

	d.Synced(t, c.ID, "search")
	b.get("/connectors/linear").want(t, http.StatusOK, "Responding", "Up to date", "synced", "next sync", "in 1")
	if p := b.get("/connectors/linear/tools"); p.says("Tools last synced") {
		t.Error("fresh tools are called old")
	}

	d.failSyncs(c.ID, "timeout")
	d.failSyncs(c.ID, "timeout")
	b.get("/connectors/linear").want(t, http.StatusOK, "Failing", "2 syncs in a row", "Up to date")
	b.get("/connectors/linear/tools").want(t, http.StatusOK, "Tools last synced", "Agents keep using these.", "search")

	d.ahead.Store(int64(80 * time.Hour))
	b = d.signInAsRole(connectors.RoleViewer)
	b.get("/connectors/linear").want(t, http.StatusOK, "Down for days", "checked every 6 hours", "Out of date", "older than two sync intervals")
	b.get("/connectors").want(t, http.StatusOK, "down for days", "out of date")
}

func TestHealth_OverviewDrawsSyncs(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	c := d.addConnectorAt("Linear", "https://mcp.example.com/mcp")
	b := d.signInAsRole(connectors.RoleViewer)
	if p := b.get("/connectors/linear"); p.says("Uptime and latency") {
		t.Error("there is nothing to draw")
	}
	d.Synced(t, c.ID, "search")
	d.failSyncs(c.ID, "timeout")
	b.get("/connectors/linear").want(t, http.StatusOK,
		"Uptime, last 7 days: 50 %. 2 syncs, 1 failed.", "Latency, last 7 days: mean ", "7 days ago")
}

func TestStatus_IsTheSameOnEachPageAfterADeletedKey(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	b := d.signInAsRole(connectors.RoleAdmin)
	c := d.Connector(t, func(n *connectors.Draft) { n.Name, n.Slug, n.Auth.Type = "Linear", "linear", connectors.AuthAPIKey })
	d.Synced(t, c.ID, "search")
	b.get("/connectors").want(t, http.StatusOK, "Needs authorization", "No working credential.")
	b.get("/connectors/linear").want(t, http.StatusOK, "Needs authorization", "No working credential.", "Set credential")
	b.get("/").want(t, http.StatusOK, "Connectors need authorization", "No working credential.")
	err := d.Door().Connectors().SetCredential(t.Context(), store.NewCredential{ConnectorID: c.ID, Type: c.Auth.Type, Origin: connectors.Origin(c.URL), Secret: "key"})
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/connectors", "/connectors/linear", "/"} {
		if p := b.get(path); p.says("No working credential.") {
			t.Errorf("%s still lacks a credential", path)
		}
	}
}

func TestVanishedTools_AreAcknowledgedOnThePage(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	b := d.signInAsRole(connectors.RoleAdmin)
	c := d.addConnectorAt("Linear", "https://linear.example.com/mcp")
	d.Synced(t, c.ID, "search", "create", "delete")
	d.Resynced(t, c.ID)
	b.get("/").want(t, http.StatusOK, "Tools missing", "3 of 3 tools gone", `href="/connectors/linear"`)
	b.get("/connectors").want(t, http.StatusOK, "tools missing")
	b.get("/notices").want(t, http.StatusOK, "Linear lost tools: 3 of 3")
	b.get("/connectors/linear").want(t, http.StatusOK, "3 of 3 tools gone", "Acknowledge", `action="/connectors/linear/acknowledge_tools"`)
	b.submit("/connectors/linear/acknowledge_tools", nil).want(t, http.StatusOK, "Current tools of “Linear” accepted.")
	if p := b.get("/"); p.says("3 of 3 tools gone") {
		t.Error("an acknowledged loss is still on Home")
	}
}
