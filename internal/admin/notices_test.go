package admin_test

import (
	"net/http"
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

func TestNotices_BellCountsWhatHomeLists(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	b, viewer := d.signInAsRole(connectors.RoleMember), d.signInAsRole(connectors.RoleViewer)
	wantBell(t, b.get("/notices"), "")
	d.createNotice(connectors.NoticeDown, "Linear is down")
	d.createNotice(connectors.NoticeDown, "Linear is down")
	wantBell(t, b.get("/agents"), "")
	waiting := d.createOneWaiting()
	p := b.get("/notices")
	p.want(t, http.StatusOK, "Linear is down", "2 times", "Its server does not answer.", "Connector down", "Needs you", "Calls waiting for approval")
	wantBell(t, p, "1 to do")
	if !strings.Contains(p.Body, "<title>(1) Notifications · Patchbay</title>") {
		t.Error("the title has no count")
	}
	viewer.get("/notices").want(t, http.StatusOK, "Needs attention")
	b.submit("/approvals/"+waiting.String()+"/deny", nil)
	wantBell(t, b.get("/agents"), "")
}

// createOneWaiting creates a call that waits for approval.
func (d *dashboard) createOneWaiting() connectors.ToolCallID {
	d.t.Helper()
	return d.createWaitingCall(d.Tenant, d.Agent(d.t), d.Connector(d.t))
}

func wantBell(t *testing.T, p page, want string) {
	t.Helper()
	count, ok := htmlcheck.Parse(t, p.Body).ByID("needs-count")
	if got := strings.Join(strings.Fields(count.Text()), " "); got != want || !ok {
		t.Errorf("the bell says %q, want %q", got, want)
	}
}

func TestNotices_StreamUpdatesBellAndList(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	b := d.signInAsRole(connectors.RoleViewer)
	events, elsewhere := b.openEventsAt("/events?on=notices"), b.openEventsAt("/events?on=frame")
	d.createNotice(connectors.NoticeDown, "Linear is down")
	events.until("Linear is down")
	d.createOneWaiting()
	events.until("Needs attention", " to do")
	elsewhere.until(" to do")
	d.createNotice(connectors.NoticeDown, "Linear is down")
	event := events.until("2 times")
	if !strings.Contains(event, `hx-swap="outerMorph"`) {
		t.Errorf("told anew by %s", event)
	}
}
