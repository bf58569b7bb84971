package admin_test

import (
	"net/http"
	"strings"
	"testing"

	"patchbay/internal/connectors"
)

func TestApproval_ButtonsAreForDeciders(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	ada, c := d.createMember(connectors.RoleMember), d.Connector(t)
	hers, everybodys := d.Agent(t), d.Agent(t)
	if err := d.Door().Agents().MakePersonal(t.Context(), ada.UserID, hers.ID); err != nil {
		t.Fatal(err)
	}
	calls := map[string]connectors.ToolCallID{"hers": d.createWaitingCall(d.Tenant, hers, c), "everybody's": d.createWaitingCall(d.Tenant, everybodys, c)}
	herself := d.browser()
	herself.signIn(ada.Email)
	people := map[string]*browser{"herself": herself}
	decide := map[string]map[string]bool{"herself": {"hers": true, "everybody's": true}}
	for _, role := range connectors.Roles {
		people[string(role)] = d.signInAsRole(role)
		decide[string(role)] = map[string]bool{"hers": role.May(connectors.PermManage), "everybody's": role.May(connectors.PermOperate)}
	}
	for name, b := range people {
		inbox := b.get("/approvals")
		for whose, id := range calls {
			path, may := "/approvals/"+id.String(), decide[name][whose]
			one := b.get(path)
			for page, shown := range map[string]page{"the inbox": inbox, "the page": one} {
				if shown.Status != http.StatusOK || strings.Contains(shown.Body, path+`/approve"`) != may || strings.Contains(shown.Body, path+`/deny"`) != may {
					t.Errorf("%s, a call of %s agent, %s: %d, may decide: %t", name, whose, page, shown.Status, may)
				}
			}
			if one.says("all of it") != may {
				t.Errorf("%s reads the arguments of %s: %t", name, whose, !may)
			}
			if why := "and admins can approve or deny this agent's calls."; one.says(why) != (!may && decide[name]["everybody's"]) {
				t.Errorf("%s, a call of %s agent: %s", name, whose, plainText(one.Body))
			}
			if !may {
				b.post(path+"/approve", nil).want(t, http.StatusForbidden)
			}
		}
	}
}

func TestConnectLink_IsNotOfferedForMembersAgent(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	ada := d.createMember(connectors.RoleMember)
	hers, c, _ := d.createOwnAgent(ada, func(c *connectors.Draft) { c.Auth.Type = connectors.AuthOAuth2 })
	tenants := d.Agent(t)
	page, link := "/connectors/"+c.Slug+"/credentials", func(a connectors.Agent) string {
		return `"/connectors/` + c.Slug + `/agents/` + a.Slug + `/connect-link"`
	}
	for _, role := range connectors.Roles {
		p := d.signInAsRole(role).get(page)
		if may := role.May(connectors.PermManage); strings.Contains(p.Body, link(hers)) || strings.Contains(p.Body, link(tenants)) != may || p.says("links don't work.") != may {
			t.Errorf("%s: %d %s", role, p.Status, plainText(p.Body))
		}
	}
}
