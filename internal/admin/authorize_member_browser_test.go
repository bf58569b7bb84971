//go:build e2e

package admin_test

import (
	"net/url"
	"strings"
	"testing"

	"patchbay/internal/connectors"
)

func TestAuthorizeMember_Page(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	asked := strings.Replace(d.authorizePath("Claude Desktop, the long name of which fills more than a line of a phone", programsCallback), url.QueryEscape(d.base+"/mcp"), url.QueryEscape(d.base+"/mcp/admin"), 1)
	m := d.Member(t, connectors.RoleAdmin)
	d.ProgramAsIn(t, d.Tenant, m.UserID, connectors.ScopeAdminRead)
	tab := d.openSignedInTab(connectors.RoleOwner)
	checkForEveryone(t, tab, d.base+asked)
	checkAppearance(tab, "authorize-as-member")
	checkForEveryone(t, tab, d.base+"/members")
	checkAppearance(tab, "members-programs")
}
