package admin_test

import (
	"net/http"
	"net/url"
	"testing"
	"time"

	"patchbay/internal/connectors"
)

func TestTheSettingsSayHowLongHistoryIsKeptAndFromWhenThereIsSome(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	owner := d.as(connectors.RoleOwner)
	owner.get("/settings").want(t, http.StatusOK, "From 30 to 90; empty: 90", "History since", "There is none yet")
	d.OldCalls(t, d.Connector(t), "search", 40, 1)
	form := func(days string) url.Values { return url.Values{"name": {"Acme"}, "history_days": {days}} }
	for _, wrong := range []string{"7", "91", "x"} {
		owner.post("/settings", form(wrong)).want(t, http.StatusUnprocessableEntity, "History is kept for 30 to 90 days")
	}
	owner.submit("/settings", form("45")).want(t, http.StatusOK, "The settings are saved.", `value="45"`, time.Now().UTC().AddDate(0, 0, -40).Format("2 Jan 2006"))
	owner.submit("/settings", form("")).want(t, http.StatusOK, "The settings are saved.", `value=""`)
	self, err := d.Door().Self(t.Context())
	if err != nil || self.HistoryDays != 0 {
		t.Errorf("%+v, %v", self, err)
	}
}
