//go:build e2e

package admin_test

import (
	"testing"

	"patchbay/internal/connectors"

	chromium "patchbay/internal/testing/browser"
)

func TestNotices_ArriveLiveAndWorkWithoutScript(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	tab := d.openSignedInTab(connectors.RoleAdmin)
	tab.Go(d.base + "/notices")
	tab.WaitText("main", "No notifications")
	d.createNotice(connectors.NoticeDown, "Linear is down")
	tab.WaitText("#notices", "Linear is down")
	tab.WaitText("#unread", "1")
	d.createNotice(connectors.NoticeNeedsAuth, "Sentry needs authorization")
	d.createNotice(connectors.NoticeRecovered, "Linear recovered")
	d.createNotice(connectors.NoticeToolChange, "2 tools of Linear have changed")
	tab.WaitText("#unread", "4")
	tab.WaitText("main", "Mark all as read")
	checkAppearanceOf(t, tab, "notices")
	tab.Scripts(false)
	tab.Go(d.base + "/connectors")
	tab.Click(".bell")
	tab.WaitPath("/notices")
	tab.Click("form[action='/notices/read'] button")
	tab.WaitText("main", "4 marked as read.")
	if n := chromium.Eval[int](tab, `document.querySelectorAll("#unread > *").length`); n != 0 {
		t.Error("the bell counts what was read")
	}
}
