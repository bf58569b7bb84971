//go:build e2e

package admin_test

import (
	"testing"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/store"
)

func TestQuotasAreSeenInTheBrowser(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	addConnectorWithTools(t, d, d.signInAsRole(connectors.RoleAdmin))
	c := d.findConnector("linear")
	bound := []store.CuratedTool{{Name: "create_issue", Curation: connectors.Curation{Enabled: true, Quota: connectors.Quota{PerMinute: 60, PerDay: 1000}}}}
	if err := d.Door().Tools().Curate(t.Context(), c.ID, bound); err != nil {
		t.Fatal(err)
	}
	if err := d.Door().Calls().SetOperatorQuota(t.Context(), connectors.Quota{PerDay: 5000}); err != nil {
		t.Fatal(err)
	}
	for _, day := range []int{0, 1} { // midnight may come before the pages are read
		at := connectors.QuotaDay(time.Now()).AddDate(0, 0, day)
		_, err := d.St.System().Calls().CountQuotas(t.Context(), []store.QuotaCount{
			{QuotaOwner: store.QuotaOwner{Tenant: d.Tenant}, Day: at, Calls: 2812},
			{QuotaOwner: store.QuotaOwner{Tenant: d.Tenant, Connector: c.ID, Tool: "create_issue"}, Day: at, Calls: 1000, OverDay: 12},
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	tab := d.openSignedInTab(connectors.RoleOwner)
	for name, path := range map[string]string{"quota-tool": "/connectors/linear/tools/create_issue", "quota-settings": "/settings", "quota-calls": "/calls"} {
		tab.Go(d.base + path)
		tab.WaitText("main", "1,000 of 1,000 calls today")
		tab.WaitText("main", "12 calls refused today")
		checkAppearance(tab, name)
	}
}
