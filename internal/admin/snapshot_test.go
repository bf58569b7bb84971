package admin_test

import (
	"net/http"
	"strings"
	"testing"

	"patchbay/internal/connectors"
)

// getWhile gets a page, and runs change between its statements: before the first that reads the table.
func (d *dashboard) getWhile(b *browser, path, table string, change func()) page {
	d.t.Helper()
	b.get(path) // which loads what is cached
	var p page
	d.BetweenStatements(d.t, table, func() { p = b.get(path) }, change)
	return p
}

func TestAgentShow_GrantDroppedBetweenStatements(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	b := d.signInAsRole(connectors.RoleViewer)
	c, a := d.Connector(t, func(c *connectors.Draft) { c.Name = "Linear" }), d.Agent(t)
	d.Synced(t, c.ID, "search", "create_issue")
	d.Grant(t, a.ID, c.ID)
	p := d.getWhile(b, "/agents/"+a.Slug, "credentials", func() {
		d.AsSystem(t, "delete from agent_grants where agent_id = $1", []any{a.ID})
	})
	if text := plainText(p.Body); p.Status != http.StatusOK || !strings.Contains(text, "Tools available2Connectors1") || !p.says("All 2 tools") {
		t.Errorf("status %d: %s", p.Status, text)
	}
	b.get("/agents/"+a.Slug).want(t, http.StatusOK, "No access yet")
}
