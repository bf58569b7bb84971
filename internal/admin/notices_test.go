package admin_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"patchbay/internal/connectors"
	"patchbay/internal/store"
	chromium "patchbay/internal/testing/browser"
	"patchbay/internal/testing/htmlcheck"
)

func (d *dashboard) createNotice(kind connectors.NoticeKind, title string) {
	d.t.Helper()
	n := store.NewNotice{Kind: kind, Title: title, Body: "Its server does not answer.", Link: "/connectors", Key: title}
	if err := d.Door().AddNotice(d.t.Context(), n); err != nil {
		d.t.Fatal(err)
	}
}

func TestNotices_BellCountsUnread(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	b, other := d.signInAsRole(connectors.RoleViewer), d.signInAsRole(connectors.RoleOwner)
	b.get("/notices").want(t, http.StatusOK, "Nothing to tell")
	d.createNotice(connectors.NoticeDown, "Linear is down")
	d.createNotice(connectors.NoticeDown, "Linear is down")
	d.createNotice(connectors.NoticeNeedsAuth, "Sentry needs authorization\u202e")
	wantUnread(t, b.get("/agents"), "2 unread")
	p := b.get("/notices")
	p.want(t, http.StatusOK, "Linear is down", "2 times", "Its server does not answer.", "Connector down", `authorization\u202e`, "Mark all as read")
	_, rest, _ := strings.Cut(p.Body, `name="id" value="`)
	id, _, _ := strings.Cut(rest, `"`)
	one := b.submit("/notices/read", url.Values{"id": {id}})
	one.want(t, http.StatusOK, "1 notice marked as read.")
	wantUnread(t, one, "1 unread")
	all := b.submit("/notices/read", nil)
	all.want(t, http.StatusOK, "1 notice marked as read.")
	wantUnread(t, all, "")
	if all.says("Mark all as read") {
		t.Error("there is something to read still")
	}
	wantUnread(t, other.get("/notices"), "2 unread")
}

func wantUnread(t *testing.T, p page, want string) {
	t.Helper()
	unread, ok := htmlcheck.Parse(t, p.Body).ByID("unread")
	if got := strings.Join(strings.Fields(unread.Text()), " "); got != want || !ok {
		t.Errorf("the bell says %q, want %q", got, want)
	}
}

func TestNotices_StreamUpdatesBellAndList(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	b := d.signInAsRole(connectors.RoleViewer)
	events, elsewhere := b.openEventsAt("/events?on=notices"), b.openEventsAt("/events?on=approvals")
	d.createNotice(connectors.NoticeDown, "Linear is down")
	events.until("Linear is down")
	elsewhere.until(" unread")
	d.createNotice(connectors.NoticeDown, "Linear is down")
	event := events.until("2 times")
	if !strings.Contains(event, `hx-swap="outerMorph"`) {
		t.Errorf("told anew by %s", event)
	}
}

func TestNotices_ArriveLiveAndWorkWithoutScript(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	tab := d.openSignedInTab(connectors.RoleAdmin)
	tab.Go(d.base + "/notices")
	tab.WaitText("main", "Nothing to tell")
	d.createNotice(connectors.NoticeDown, "Linear is down")
	tab.WaitText("#notices", "Linear is down")
	tab.WaitText("#unread", "1")
	d.createNotice(connectors.NoticeNeedsAuth, "Sentry needs authorization")
	d.createNotice(connectors.NoticeRecovered, "Linear works again")
	d.createNotice(connectors.NoticeToolChange, "2 tools of Linear have changed")
	tab.WaitText("#unread", "4")
	tab.WaitText("main", "Mark all as read")
	checkAppearanceOf(t, tab, "notices")
	tab.Scripts(false)
	tab.Go(d.base + "/connectors")
	tab.Click(".bell")
	tab.WaitPath("/notices")
	tab.Click("form[action='/notices/read'] button")
	tab.WaitText("main", "4 notices marked as read.")
	if n := chromium.Eval[int](tab, `document.querySelectorAll("#unread > *").length`); n != 0 {
		t.Error("the bell counts what was read")
	}
}
