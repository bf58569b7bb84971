package admin_test

import (
	"net/http"
	"net/url"
	"testing"

	"patchbay/internal/connectors"
	"patchbay/internal/mcp/mcptest"
	"patchbay/internal/testing/fixture"
)

func TestToolTry_ManagedAccountServesItsMemberAlone(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	up := mcptest.Start(t, mcptest.Script{Tools: []string{readOnlySearch}, On: map[string]mcptest.Handler{
		"tools/call": mcptest.Answer("application/json", func(c mcptest.Call) string {
			return mcptest.Result(c, `{"content":[{"type":"text","text":"3 found"}]}`)
		}),
	}})
	c := d.Connector(t, fixture.Managed, func(draft *connectors.Draft) { draft.Name, draft.Slug, draft.URL = "Linear", "linear", up.URL })
	d.Synced(t, c.ID, "search")
	a := d.Agent(t, trustAgent, func(a *connectors.Agent) { a.Name, a.Slug = "Support", "support" })
	d.Grant(t, a.ID, c.ID)
	ada := d.createMember(connectors.RoleAdmin)
	d.ManagedAccount(t, c, a.ID, ada.UserID, "managed")
	admin, member, path := d.signInAsRole(connectors.RoleOwner), d.browser(), "/connectors/linear/tools/search/try"
	member.signIn(ada.Email)
	for _, agent := range []string{"support", ":support"} {
		form := url.Values{"agent": {agent}, "as": {"json"}, "json": {`{"q":"x"}`}, "confirm": {fixture.Definition("search").Hash.String()}}
		admin.post(path, form).want(t, http.StatusOK, "Refused", "serves only that member")
		if n := len(up.Calls()); n != 0 {
			t.Errorf("%d requests for an admin", n)
		}
	}
	for _, agent := range []string{"support", ":support"} {
		form := url.Values{"agent": {agent}, "as": {"json"}, "json": {`{"q":"x"}`}, "confirm": {fixture.Definition("search").Hash.String()}}
		member.post(path, form).want(t, http.StatusOK, "Done", "3 found")
	}
}
