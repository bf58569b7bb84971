package admin_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/store"
	"patchbay/internal/testing/fixture"
)

// runQueuedSync runs a connector's queued sync as another replica's worker would; up false: the server is down.
func (d *dashboard) runQueuedSync(c connectors.Connector, up bool) {
	d.t.Helper()
	runs, err := d.Door().Syncs().List(d.t.Context(), c.ID, store.Page{Limit: 1})
	if err != nil {
		d.t.Fatal(err)
	}
	id := runs.Items[0].ID
	_, err = d.Door().Syncs().Start(d.t.Context(), store.SyncStart{NewRun: store.NewRun{ConnectorID: c.ID}, Run: &id, Instance: d.Instance})
	if err != nil {
		d.t.Fatal(err)
	}
	if up {
		_, err = d.Door().Syncs().Finish(d.t.Context(), id, fixture.FirstResult(fixture.Definition("search")))
	} else {
		_, err = d.Door().Syncs().Fail(d.t.Context(), id, connectors.SyncError{Code: "timeout", Message: "It was silent."}, store.ServerObservation{})
	}
	if err != nil {
		d.t.Fatal(err)
	}
}

func TestSyncAll_BarSurvivesReload(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	linear, notes := d.addConnectorAt("Linear", "https://mcp.example.com/mcp"), d.addConnectorAt("Notes", "https://notes.example.com/mcp")
	b := d.signInAsRole(connectors.RoleMember)
	if p := b.get("/connectors"); p.says("Syncing all connectors") {
		t.Error("nothing goes on")
	}
	b.submit("/sync_tools", url.Values{"return_to": {"/connectors"}}).want(t, http.StatusOK, "Syncing all connectors", "0 of 2 done")
	events := d.signInAsRole(connectors.RoleViewer).openEvents()
	events.until("0 of 2 done")
	d.runQueuedSync(linear, true)
	events.until("1 of 2 done")
	b.get("/connectors").want(t, http.StatusOK, "Syncing all connectors", "1 of 2 done", `value="1"`)
	d.runQueuedSync(notes, false)
	events.until("1 failed")
	b.get("/connectors").want(t, http.StatusOK, "Sync finished", "2 of 2 done", "1 failed")
	d.ahead.Store(int64(10 * time.Minute))
	if p := d.signInAsRole(connectors.RoleMember).get("/connectors"); p.says("Sync finished") {
		t.Error("the end is told for good")
	}
}

func TestSweep_PageQueriesAreConstant(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	var list []connectors.Connector
	for range 60 {
		list = append(list, d.Connector(t))
	}
	b := d.signInAsRole(connectors.RoleMember)
	b.submit("/sync_tools", nil).want(t, http.StatusOK, "Syncing 60 connectors.")
	atStart := d.countStatements(func() { b.get("/connectors").want(t, http.StatusOK, "0 of 60 done") })
	for _, c := range list {
		d.runQueuedSync(c, true)
	}
	n := d.countStatements(func() { b.get("/connectors").want(t, http.StatusOK, "60 of 60 done", "All connectors synced") })
	if n != atStart {
		t.Errorf("%d statements at the start, %d at the end", atStart, n)
	}
}

func TestSweep_UpdatesRowsOfEveryPage(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	for i := range 60 {
		d.addConnectorAt(fmt.Sprintf("Server %02d", i), "https://mcp.example.com/mcp")
	}
	last := d.addConnectorAt("Zulu", "https://mcp.example.com/mcp")
	b := d.signInAsRole(connectors.RoleMember)
	_, rest, _ := strings.Cut(b.get("/connectors").Body, `href="/connectors?cursor=`)
	cursor, _, _ := strings.Cut(rest, `&amp;`)
	b.get("/connectors?cursor="+cursor).want(t, http.StatusOK, "Zulu", `hx-sse:connect="/events?cursor=`+cursor)
	b.submit("/sync_tools", nil).want(t, http.StatusOK, "Syncing 61 connectors.")

	second, never := b.openEventsAt("/events?cursor="+cursor), b.openEventsAt("/events?q=zulu&status=never_synced")
	alone := d.signInAsRole(connectors.RoleViewer).openEventsAt("/events?connector=" + last.Slug)
	for _, events := range []*eventReader{second, never, alone} {
		events.until("0 of 61 done")
	}
	d.runQueuedSync(last, true)
	for _, events := range []*eventReader{second, never, alone} {
		if row := events.until("Zulu"); !strings.Contains(row, "Connected") {
			t.Errorf("the row is %s", row)
		}
	}
}

// createSyncHistory stores a week of syncs, with an hour of half failures and a day without any.
func (d *dashboard) createSyncHistory(id connectors.ConnectorID) {
	d.t.Helper()
	tx, err := d.Pool.Begin(d.t.Context())
	if err != nil {
		d.t.Fatal(err)
	}
	for _, statement := range []string{
		"select set_config('app.system', 'on', true)",
		`insert into connector_health (tenant_id, connector_id, hour, ok, failed, ms_sum, ms_max)
		 select tenant_id, connector_id, date_trunc('hour', now()) - n * interval '1 hour', case when n in (7, 8) then 0 else 4 end,
		        case when n in (6, 7) then 4 when n = 8 then 9 else 0 end, 1200 + 90 * (n % 11), 700 + 60 * (n % 7)
		 from connector_clock, generate_series(1, 167) n where connector_id = '` + id.String() + `' and n not between 60 and 84`,
	} {
		if _, err := tx.Exec(d.t.Context(), statement); err != nil {
			d.t.Fatal(err)
		}
	}
	if err := tx.Commit(d.t.Context()); err != nil {
		d.t.Fatal(err)
	}
}
