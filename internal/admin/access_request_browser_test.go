//go:build e2e

package admin_test

import (
	"fmt"
	"testing"

	"patchbay/internal/connectors"
)

// A member asks from the page that explains a blocked tool, and an admin accepts from the notice, each with two clicks.
func TestAccessRequest_TwoClicksEach(t *testing.T) {
	t.Parallel()
	for _, scripts := range []bool{true, false} {
		t.Run(fmt.Sprintf("scripts=%t", scripts), func(t *testing.T) {
			t.Parallel()
			d, _ := newAskedDashboard(t)
			tab := d.openSignedInTab(connectors.RoleMember)
			tab.Scripts(scripts)
			tab.Go(d.base + "/agents/support/tools/mcp_linear__search")
			asker := tab.Count()
			asker.Click("main a[href^='/access/request?']")
			asker.WaitText("main", "Choose another")
			tab.Fill("textarea[name=reason]", "For the report.")
			asker.Click("main form[action='/access/request'] button[type=submit]")
			asker.WaitText("main", "Waiting for a decision")
			asker.AtMost(2, "asking")

			tab = d.openSignedInTab(connectors.RoleAdmin)
			tab.Scripts(scripts)
			tab.Go(d.base + "/notices")
			admin := tab.Count()
			admin.Click("main a[href^='/access/requests/']")
			admin.WaitText("main", "Requested tools")
			admin.Click("main form[action$='/accept'] button:not([formaction])")
			admin.WaitText("main", "Accepted")
			admin.AtMost(2, "accepting")
			if !d.callSearch() {
				t.Error("the agent still has no access")
			}
		})
	}
}
