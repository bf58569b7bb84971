//go:build e2e

package admin_test

import (
	"fmt"
	"net/http"
	"testing"

	"patchbay/internal/connectors"
	"patchbay/internal/mcp/mcptest"

	chromium "patchbay/internal/testing/browser"
)

// recordBarValues records each value of the page's progress bar, and the maximum number of bars at once.
func recordBarValues(tab *chromium.Tab) {
	chromium.Eval[bool](tab, `(() => {
		window.noted = {values: [], bars: 0};
		const look = () => {
			const bars = document.querySelectorAll("progress");
			noted.bars = Math.max(noted.bars, bars.length);
			if (bars.length && noted.values.at(-1) !== bars[0].value) noted.values.push(bars[0].value);
		};
		new MutationObserver(look).observe(document.body, {subtree: true, childList: true, attributes: true});
		look();
		return true;
	})()`)
}

// TestSyncAll_ThousandConnectorsShowOneBar syncs many servers, one of them broken, by the dashboard's button,
// and watches the open page.
func TestSyncAll_ThousandConnectorsShowOneBar(t *testing.T) {
	t.Parallel()
	many := 1000
	if testing.Short() {
		many = 100
	}
	d := newDashboard(t)
	gate := newPausingServer(t, many/2, many-1)
	works := mcptest.Start(t, mcptest.Script{On: map[string]mcptest.Handler{"tools/list": func(w http.ResponseWriter, r *http.Request, c mcptest.Call) {
		gate.waitForTurn(r)
		mcptest.ListResult(mcptest.Tool("search")+","+mcptest.Tool("fetch"))(w, r, c)
	}}})
	broken := mcptest.Start(t, mcptest.Script{On: map[string]mcptest.Handler{"tools/list": func(w http.ResponseWriter, r *http.Request, c mcptest.Call) {
		select {
		case <-gate.free:
		case <-r.Context().Done():
		}
		mcptest.Status(http.StatusInternalServerError, "out of order")(w, r, c)
	}}})
	for i := range many - 1 {
		d.addConnectorAt(fmt.Sprintf("Server %04d", i), works.URL)
	}
	d.addConnectorAt("Lemon", broken.URL)
	d.runWorkers()

	tab := d.openSignedInTab(connectors.RoleMember)
	tab.Go(d.base + "/connectors")
	tab.Click("form[action='/sync_tools'] button")
	tab.WaitText("#sweep", "Syncing all connectors")
	tab.WaitGone("form[aria-busy]") // the click's answer has the count of its moment; the stream may be ahead of it
	recordBarValues(tab)
	waitFor(t, gate.there)
	tab.WaitText("#sweep", groupThousands(many/2)+" of "+groupThousands(many)+" done")
	gate.goOn()
	waitFor(t, gate.over)
	tab.WaitText("#sweep", groupThousands(many)+" of "+groupThousands(many)+" done")
	tab.WaitText("#sweep", "Sync finished")
	values, bars := chromium.Eval[[]int](tab, "noted.values"), chromium.Eval[int](tab, "noted.bars")
	for i := 1; i < len(values); i++ {
		if values[i] < values[i-1] {
			t.Errorf("the bar went back: %v", values)
		}
	}
	if bars != 1 || len(values) < 2 || values[len(values)-1] != many {
		t.Errorf("%d bars; the one moved so: %v", bars, values)
	}

	tab.WaitText("#sweep", "1 failed")
	tab.Click("#sweep a")
	tab.WaitText("main tbody tr:only-child", "Lemon")
	var synced, left, tools int
	d.AsSystem(t, "select count(*) filter (where ok_at is not null), count(*) filter (where claimed_by is not null) from connector_clock", nil, &synced, &left)
	d.AsSystem(t, "select count(*) from tools", nil, &tools)
	if synced != many-1 || left != 0 || tools != 2*(many-1) {
		t.Errorf("%d connectors are synced, %d are still under way, with %d tools", synced, left, tools)
	}
}
