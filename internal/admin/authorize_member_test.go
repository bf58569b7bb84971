package admin_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"patchbay/internal/connectors"
	"patchbay/internal/store"
)

// memberAuthorizePath is the authorization request of a program that wants to act as the person.
func (d *dashboard) memberAuthorizePath() string {
	d.t.Helper()
	return strings.Replace(d.authorizePath("Inspector", programsCallback), url.QueryEscape(d.base+"/mcp"), url.QueryEscape(d.base+"/mcp/admin"), 1)
}

func TestAuthorizeMember_PageNamesTheConsequences(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	asked := d.memberAuthorizePath()
	b := d.signInAsRole(connectors.RoleAdmin)
	p := b.get(asked)
	for _, want := range []string{"Let a client act as you?", "with your role: Admin", "under your name", "only read, like a viewer", "do everything you can", "“Inspector” (unverified)"} {
		if p.Status != http.StatusOK || !strings.Contains(plainText(p.Body), want) {
			t.Errorf("the page does not say %q: %d\n%s", want, p.Status, plainText(p.Body))
		}
	}
	if strings.Contains(p.Body, `name="agent"`) {
		t.Error("an agent is to be chosen")
	}
	for name, form := range map[string]url.Values{
		"nothing":  {"decision": {"allow"}},
		"an agent": {"decision": {"allow"}, "agent": {d.Agent(t).Slug}},
		"no scope": {"decision": {"allow"}, "scope": {"owner"}},
	} {
		if p := b.post(asked, form); p.Location != "" || p.Status != http.StatusUnprocessableEntity {
			t.Errorf("%s is chosen: %d to %q", name, p.Status, p.Location)
		}
	}
	said := b.post(asked, url.Values{"decision": {"allow"}, "scope": {"admin:read"}})
	if to, err := url.Parse(said.Location); err != nil || to.Query().Get("code") == "" {
		t.Errorf("%d to %q", said.Status, said.Location)
	}
	if p := d.signInAsRole(connectors.RoleViewer).get(asked); p.Status != http.StatusOK || !strings.Contains(p.Body, `value="allow"`) {
		t.Errorf("a viewer may let one act as a viewer: %d", p.Status)
	}
}

// A session alone, which may be stolen, authorizes no program for weeks, whatever the role.
func TestAuthorizeMember_ConfirmsFirst(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	viewer, asked := d.signInAsRole(connectors.RoleViewer), d.memberAuthorizePath()
	d.advancePastConfirmation()
	for _, p := range []page{viewer.get(asked), viewer.post(asked, url.Values{"decision": {"allow"}, "scope": {"admin"}})} {
		if to, _ := url.Parse(p.Location); p.Status != http.StatusSeeOther || to.Path != "/confirm" || to.Query().Get("return_to") != asked {
			t.Errorf("%d to %q", p.Status, p.Location)
		}
	}
}

func TestMemberPrograms_OwnerRevokes(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	m := d.Member(t, connectors.RoleAdmin, func(n *store.NewMember) { n.Name = "Ada" })
	id := d.ProgramAsIn(t, d.Tenant, m.UserID, connectors.ScopeAdmin)
	owner := d.signInAsRole(connectors.RoleOwner)
	owner.get("/members").want(t, http.StatusOK, "Clients acting as members", "by Ada", "acts as member, all permissions")
	if p := d.signInAsRole(connectors.RoleViewer).get("/members"); strings.Contains(p.Body, "Clients acting as members") {
		t.Errorf("a viewer sees them: %d", p.Status)
	}
	end := "/members/" + m.UserID.String() + "/programs/" + id.String() + "/revoke"
	if p := d.signInAsRole(connectors.RoleAdmin).post(end, nil); p.Status != http.StatusForbidden {
		t.Errorf("an admin ends one: %d", p.Status)
	}
	if p := owner.post(end, nil); p.Status != http.StatusSeeOther {
		t.Errorf("%d", p.Status)
	}
	owner.get("/members").want(t, http.StatusOK, "None yet. Clients that members sign in to manage Patchbay appear here.")
}
