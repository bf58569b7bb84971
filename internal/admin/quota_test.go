package admin_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/store"
)

func TestAnAdminBoundsATool(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	b := d.signInAsRole(connectors.RoleAdmin)
	addConnectorWithTools(t, d, b)
	const tool = "/connectors/linear/tools/create_issue"
	b.submit(tool+"/curate", url.Values{"enabled": {"true"}, "calls_per_minute": {"60"}, "calls_per_day": {"1000"}}).want(t, http.StatusOK,
		"“create_issue” saved.", `value="60"`, `value="1000"`, "0 of 1,000 calls today", "0 of 60 calls this minute", `<meter min="0" value="0" max="1000" high="800"`)
	b.submit(tool+"/curate", url.Values{"enabled": {"true"}, "alias": {"open_ticket"}}).want(t, http.StatusOK, `value="1000"`)
	for _, wrong := range []string{"-1", "x", "1000000001"} {
		b.post(tool+"/curate", url.Values{"enabled": {"true"}, "calls_per_day": {wrong}}).want(t, http.StatusUnprocessableEntity, "Must be 0–1000000000 per day (0: no limit).", `value="`+wrong+`"`)
	}
	if got, want := d.listCurations("linear")["create_issue"].Quota, (connectors.Quota{PerMinute: 60, PerDay: 1000}); got != want {
		t.Errorf("%+v", got)
	}
	d.signInAsRole(connectors.RoleViewer).get(tool).want(t, http.StatusOK, "60 calls per minute and 1,000 calls per day", "0 of 1,000 calls today")
}

// TestQuota_IsShownWhenTryingATool has a person try a tool until its quota per minute is used up.
func TestQuota_IsShownWhenTryingATool(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	d.addAnsweringServer(`{"content":[]}`, trustAgent)
	bound := []store.CuratedTool{{Name: "search", Curation: connectors.Curation{Enabled: true, Quota: connectors.Quota{PerMinute: 1}}}}
	if err := d.Door().Tools().Curate(t.Context(), d.addLinear(), bound); err != nil {
		t.Fatal(err)
	}
	b := d.signInAsRole(connectors.RoleMember)
	try := func() page {
		return b.post("/connectors/linear/tools/search/try", url.Values{"agent": {"support"}, "as": {"json"}, "json": {`{"q":"x"}`}})
	}
	p := try()
	for p.Status == http.StatusOK {
		p = try()
	}
	p.want(t, http.StatusTooManyRequests, "allows 1 call per minute. Try again in ")
	if p.Header.Get("Retry-After") == "" {
		t.Error("no Retry-After")
	}
}

func TestSettings_ShowQuotaUse(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	owner := d.signInAsRole(connectors.RoleOwner)
	if page := owner.get("/settings"); page.says("Quotas today") {
		t.Error("there is no quota, and the page tells of some")
	}
	if err := d.Door().Calls().SetOperatorQuota(t.Context(), connectors.Quota{PerDay: 5000}); err != nil {
		t.Fatal(err)
	}
	owner.post("/settings", url.Values{"name": {"Acme"}, "calls_per_day": {"5001"}}).want(t, http.StatusUnprocessableEntity, "The operator allows at most 5000 calls per day; 0 uses that limit.", `value="5001"`)
	owner.submit("/settings", url.Values{"name": {"Acme"}, "calls_per_day": {"4000"}, "calls_per_minute": {"60"}}).want(t, http.StatusOK,
		"Settings saved.", "0 for the operator's maximum, 5,000 calls per day.", `value="4000"`, "Whole organisation", "0 of 4,000 calls today")
	c := d.Connector(t)
	d.Synced(t, c.ID, "search")
	bound := []store.CuratedTool{{Name: "search", Curation: connectors.Curation{Enabled: true, Quota: connectors.Quota{PerMinute: 1}}}}
	if err := d.Door().Tools().Curate(t.Context(), c.ID, bound); err != nil {
		t.Fatal(err)
	}
	if d.signInAsRole(connectors.RoleViewer).get("/calls").says("Quotas today") {
		t.Error("little is used, and the page warns")
	}
	for _, day := range []int{0, 1} { // midnight may come before the page is read
		at := connectors.QuotaDay(time.Now()).AddDate(0, 0, day)
		_, err := d.St.System().Calls().CountQuotas(t.Context(), []store.QuotaCount{
			{QuotaOwner: store.QuotaOwner{Tenant: d.Tenant}, Day: at, Calls: 3999},
			{QuotaOwner: store.QuotaOwner{Tenant: d.Tenant, Connector: c.ID, Tool: "search"}, Day: at, Calls: 17, OverMinute: 2, OverDay: 1},
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for path, role := range map[string]connectors.Role{"/settings": connectors.RoleOwner, "/calls": connectors.RoleViewer} {
		p := d.signInAsRole(role).get(path)
		p.want(t, http.StatusOK, "3,999 of 4,000 calls today", c.Slug+"/search", "17 calls today", "3 calls refused today")
		if n := strings.Count(p.Body, "<meter"); n != 1 {
			t.Errorf("%d bars: what has no bound of a day has none", n)
		}
	}
}
