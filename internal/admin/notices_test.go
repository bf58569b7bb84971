package admin_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"patchbay/internal/connectors"
	"patchbay/internal/store"
	"patchbay/internal/testing/htmlcheck"
)

func (d *dashboard) createNotice(kind connectors.NoticeKind, title string) {
	d.t.Helper()
	n := store.NewNotice{Kind: kind, Title: title, Body: "Its server does not answer.", Link: "/connectors", Key: title}
	if err := d.Door().People().AddNotice(d.t.Context(), n); err != nil {
		d.t.Fatal(err)
	}
}

func TestNotices_BellCountsUnread(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	b, other := d.signInAsRole(connectors.RoleViewer), d.signInAsRole(connectors.RoleOwner)
	b.get("/notices").want(t, http.StatusOK, "No notifications")
	d.createNotice(connectors.NoticeDown, "Linear is down")
	d.createNotice(connectors.NoticeDown, "Linear is down")
	d.createNotice(connectors.NoticeNeedsAuth, "Sentry needs authorization\u202e")
	wantUnread(t, b.get("/agents"), "2 unread")
	p := b.get("/notices")
	p.want(t, http.StatusOK, "Linear is down", "2 times", "Its server does not answer.", "Connector down", `authorization\u202e`, "Mark all as read")
	_, rest, _ := strings.Cut(p.Body, `name="id" value="`)
	id, _, _ := strings.Cut(rest, `"`)
	one := b.submit("/notices/read", url.Values{"id": {id}})
	one.want(t, http.StatusOK, "1 marked as read.")
	wantUnread(t, one, "1 unread")
	all := b.submit("/notices/read", nil)
	all.want(t, http.StatusOK, "1 marked as read.")
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
