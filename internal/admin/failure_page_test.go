package admin_test

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"patchbay/internal/connectors"
)

// inFrame is in every page with the dashboard's frame, and in no other.
const inFrame = `id="sidebar"`

func TestFailurePage_KeepsTheFrame(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	viewer, stranger := d.signInAsRole(connectors.RoleViewer), d.browser()
	for name, try := range map[string]struct {
		status int
		ask    func(*browser) page
	}{
		"an address where nothing is": {http.StatusNotFound, func(b *browser) page { return b.get("/nowhere") }},
		"a thing that is gone":        {http.StatusNotFound, func(b *browser) page { return b.get("/connectors/gone") }},
		"a page of another role":      {http.StatusForbidden, func(b *browser) page { return b.get("/members") }},
		"an act of another role":      {http.StatusForbidden, func(b *browser) page { return b.post("/sync_tools", nil) }},
		"a cursor that is none":       {http.StatusBadRequest, func(b *browser) page { return b.get("/connectors?cursor=none") }},
	} {
		p := try.ask(viewer)
		p.want(t, try.status, inFrame, `class="lost"`, `href="/connectors"`)
		if !strings.Contains(p.Body, `hx-sse:connect="/events?on=frame"`) {
			t.Errorf("%s: the counts of the frame are not kept current", name)
		}
	}
	if p := stranger.get("/nowhere"); p.Status != http.StatusNotFound || strings.Contains(p.Body, inFrame) {
		t.Errorf("a stranger gets %d, %s", p.Status, p.Body)
	}
}

func TestFailurePage_RefusedFormLeadsBack(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	viewer := d.signInAsRole(connectors.RoleViewer)
	viewer.header = http.Header{"Referer": {d.base + "/connectors?q=mail"}}
	viewer.post("/sync_tools", nil).want(t, http.StatusForbidden, inFrame, `href="/connectors?q=mail"`, "Go back", `name="return_to" value="/connectors?q=mail"`)
}

func TestFailurePage_EndedSessionSaysNothingWasSaved(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	b := d.browser()
	b.header = http.Header{"Referer": {d.base + "/agents/new"}}
	p := b.post("/agents", nil)
	if p.Status != http.StatusSeeOther || p.Location != "/login?return_to=%2Fagents%2Fnew&unsent=1" {
		t.Fatalf("%d to %q", p.Status, p.Location)
	}
	b.get(p.Location).want(t, http.StatusOK, "You were signed out; nothing changed.", `value="/agents/new"`)
	b.header = http.Header{"Referer": {"https://elsewhere.example/agents/new"}}
	if p := b.post("/agents", nil); p.Location != "/login" {
		t.Errorf("from another site: to %q", p.Location)
	}
}

func TestFailurePage_ScriptRequestGetsASentence(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	viewer := d.signInAsRole(connectors.RoleViewer)
	viewer.header = http.Header{"Hx-Request": {"true"}}
	p := viewer.post("/sync_tools", nil)
	p.want(t, http.StatusForbidden, `data-kind="alert"`, "Requires the member role; yours is viewer.")
	for name, want := range map[string]string{"HX-Retarget": "#alert", "HX-Reselect": "[data-kind=alert]", "HX-Reswap": "innerHTML"} {
		if have := p.Header.Get(name); have != want {
			t.Errorf("%s is %q", name, have)
		}
	}
	if strings.Contains(p.Body, "<html") {
		t.Errorf("a whole page: %s", p.Body)
	}
}

// kept are the tables from which a session is read. With these alone a person is known, and nothing else is.
var kept = []string{"sessions", "browser_sessions", "users", "memberships", "tenants", "sso_settings", "second_factors", "recovery_codes"}

// breakDatabase revokes access to all tables but those of kept.
func (d *dashboard) breakDatabase() {
	d.t.Helper()
	d.AsOwner(d.t, "revoke all on all tables in schema public from patchbay_app",
		"grant select, insert, update, delete on "+strings.Join(kept, ", ")+" to patchbay_app")
}

func TestFailurePage_DatabaseFailureOffersRetry(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	owner, ids := d.signInAsRole(connectors.RoleOwner), d.ownThings()
	ids.link = d.createConnectLink(owner)
	pages := d.openPages(ids)
	d.breakDatabase()
	failed := 0
	for _, path := range slices.Sorted(maps.Keys(pages)) {
		p := owner.get(path)
		if p.Status == http.StatusOK || p.Status == http.StatusNotFound { // needs no query
			continue
		}
		failed++
		p.want(t, http.StatusInternalServerError, "Something went wrong", `href="`+path+`"`, "Try again", "When asking for help, quote")
		if !strings.HasPrefix(path, "/connect/") && !strings.HasPrefix(path, "/reset") { // these need a link and no session
			p.want(t, http.StatusInternalServerError, inFrame)
		}
		for _, raw := range []string{"permission denied", "SQLSTATE", "relation"} {
			if p.says(raw) {
				t.Errorf("%s says %q", path, raw)
			}
		}
	}
	if failed < 35 {
		t.Errorf("only %d of %d pages failed", failed, len(pages))
	}
}

func TestFailurePage_NoSessionMeansNoFrame(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	b := d.signInAsRole(connectors.RoleViewer)
	d.AsOwner(t, "revoke all on all tables in schema public from patchbay_app")
	p := b.get("/agents")
	p.want(t, http.StatusInternalServerError, "Something went wrong", "Try again", `href="/agents"`)
	if strings.Contains(p.Body, inFrame) {
		t.Error("a frame, of whom?")
	}
}
