//go:build e2e

package admin_test

import (
	"strings"
	"testing"

	"patchbay/internal/connectors"
	"patchbay/internal/store"
	chromium "patchbay/internal/testing/browser"
)

// A changed form asks before the page is left; a filter does not, nor does a form that was sent.
func TestForms_ChangedOnesAskBeforeThePageIsLeft(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	c := d.addConnectorAt("Linear", "https://mcp.example.com/mcp")
	d.Synced(t, c.ID, "search")
	a := d.Agent(t, func(a *connectors.Agent) { a.Name, a.Slug = "Support", "support" })
	d.Grant(t, a.ID, c.ID)
	tab := d.openSignedInTab(connectors.RoleOwner)
	asks := func() bool {
		return chromium.Eval[bool](tab, "!dispatchEvent(new Event('beforeunload', {cancelable: true}))")
	}
	for path, field := range map[string]string{
		"/connectors/new": "[name=description]", "/connectors/linear/settings": "[name=description]", "/connectors/import": "[name=document]",
		"/agents/new": "[name=name]", "/agents/support/settings": "[name=description]", "/agents/support/connect#add": "[name=name]",
		"/connectors/linear/tools/search": "#for-agents [name=alias]", "/webhooks/new": "[name=name]", "/settings/sso": "[name=client_id]",
		"/members#invite": "#invite [name=email]", "/api-keys#add": "#add [name=name]",
	} {
		tab.Go(d.base + path)
		at, _, _ := strings.Cut(path, "#")
		tab.WaitPath(at)
		if asks() {
			t.Errorf("%s asks though nothing was changed", path)
		}
		tab.Click(field)
		tab.Press("changed")
		if !asks() {
			t.Errorf("%s does not ask", path)
		}
		if chromium.Eval[bool](tab, "(document.querySelector('"+field+"').form.reset(), true)"); asks() {
			t.Errorf("%s asks though the change was taken back", path)
		}
	}
	tab.Go(d.base + "/agents/support/connectors/linear")
	tab.Choose("[name=approval]", "always_ask")
	if !asks() {
		t.Error("the rules of an agent do not ask")
	}
	tab.Choose("[name=approval]", "")
	tab.Go(d.base + "/tools")
	tab.Fill("[name=q]", "sea")
	if asks() {
		t.Error("a filter asks")
	}
	tab.Go(d.base + "/agents/support/settings")
	tab.Fill("[name=description]", "Answers mail.")
	tab.Click("form[data-unsaved] [type=submit]")
	tab.WaitText("#notice", "Agent saved.")
	if asks() {
		t.Error("a sent form asks")
	}
}

// A filter narrows the list at once, and the stream of the page with it.
func TestFilters_ActAtOnce(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	a, c := d.Agent(t), d.addConnectorAt("Linear", "https://mcp.example.com/mcp")
	for _, status := range []connectors.CallStatus{connectors.CallSuccess, connectors.CallError} {
		call := newCall(a, c, status)
		call.Outcome = map[connectors.CallStatus]connectors.CallOutcome{connectors.CallSuccess: connectors.OutcomeOK, connectors.CallError: connectors.OutcomeToolError}[status]
		d.createEndedCall(d.Tenant, call)
	}
	tab := d.openSignedInTab(connectors.RoleOwner)
	tab.Go(d.base + "/calls")
	tab.WaitText("#calls .count", "2 calls")
	if chromium.Eval[bool](tab, "document.querySelector('form[role=search] button').checkVisibility()") {
		t.Error("a filter has a button though it acts at once")
	}
	tab.Choose("[name=status]", "error")
	tab.WaitText("#calls .count", "1 call")
	if at := chromium.Eval[string](tab, "document.getElementById('live').getAttribute('hx-sse:connect') + location.search"); strings.Count(at, "status=error") != 2 {
		t.Errorf("the stream and the address are %q", at)
	}
	for _, path := range []string{"/audit", "/changes", "/tasks", "/access", "/connectors/linear/calls", "/agents/" + a.Slug + "/unused"} {
		tab.Go(d.base + path)
		if chromium.Eval[bool](tab, "document.querySelector('form[role=search] button').checkVisibility()") {
			t.Errorf("%s: a filter has a button though it acts at once", path)
		}
	}
}

// A role is one control with script, and has a button without.
func TestMembers_RoleIsChangedByItsSelect(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	m := d.Member(t, connectors.RoleViewer, func(n *store.NewMember) { n.Email = "grace@example.com" })
	role := "[action$='" + m.UserID.String() + "/role'] select"
	tab := d.openSignedInTab(connectors.RoleOwner)
	tab.Go(d.base + "/members")
	tab.Choose(role, "member")
	tab.WaitText("#notice", "Role changed.")
	if now := tab.Value(role); now != "member" {
		t.Errorf("the role is %s", now)
	}
	tab.Scripts(false)
	tab.Go(d.base + "/members")
	tab.Choose(role, "admin")
	tab.Click("[action$='" + m.UserID.String() + "/role'] button")
	tab.WaitText("#notice", "Role changed.")
}
