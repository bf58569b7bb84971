//go:build e2e

package admin_test

import (
	"testing"

	"patchbay/internal/connectors"
)

func TestNotices_ArriveLiveAndWorkWithoutScript(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	tab := d.openSignedInTab(connectors.RoleAdmin)
	tab.Go(d.base + "/notices")
	tab.WaitText("main", "No notifications")
	d.createNotice(connectors.NoticeDown, "Linear is down")
	tab.WaitText("#notices", "Linear is down")
	d.createOneWaiting()
	tab.WaitText("#needs", "Calls waiting for approval")
	tab.WaitText("#needs-count", "1")
	d.createNotice(connectors.NoticeNeedsAuth, "Sentry needs authorization")
	d.createNotice(connectors.NoticeRecovered, "Linear recovered")
	d.createNotice(connectors.NoticeToolChange, "2 tools of Linear have changed")
	tab.WaitText("#notices", "2 tools of Linear have changed")
	checkAppearanceOf(t, tab, "notices")
	tab.Scripts(false)
	tab.Go(d.base + "/connectors")
	tab.Click(".bell")
	tab.WaitPath("/notices")
	tab.WaitText("main", "Calls waiting for approval")
	tab.WaitText("#notices", "Linear recovered")
}
