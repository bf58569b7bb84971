package admin_test

import (
	"net/http"
	"strings"
	"testing"

	"patchbay/internal/connectors"
	"patchbay/internal/mcp/mcptest"
)

// wantQuote checks that a page quotes the markup as text, under a label.
func (p page) wantQuote(t testing.TB, label string) {
	t.Helper()
	p.want(t, http.StatusOK, label, "<b>disk</b> full", `\u202e`)
	if strings.Contains(p.Body, "<b>disk") || !strings.Contains(p.Body, "<blockquote>") || strings.Contains(p.Body, "\u202e") {
		t.Errorf("the server's words are no quote:\n%s", p.Body)
	}
}

func TestPages_QuoteTheServer(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	up := mcptest.Start(t, mcptest.Script{On: map[string]mcptest.Handler{"initialize": mcptest.Status(http.StatusInternalServerError, "<b>disk</b> full\u202e")}})
	c := d.addConnectorAt("Linear", up.URL)
	b := d.signInAsRole(connectors.RoleAdmin)
	if p := b.submit("/connectors/linear/sync_tools", nil); p.says("disk") {
		t.Error("the alert repeats the server")
	}
	b.get("/connectors/linear/runs/"+d.listRuns(c.ID)[0].ID.String()).wantQuote(t, "The server said")
	b.post("/connectors/test", connectorForm("Tested", up.URL, "auth.type", "none", "retry_attempts", "0")).wantQuote(t, "The server said")
	call := newCall(d.Agent(t), c, connectors.CallError)
	status := 3
	call.ErrorCode, call.ErrorMessage, call.Upstream = "upstream", "The program ended.", &connectors.Upstream{Said: "<b>disk</b> full" + `\u202e`, ExitStatus: &status}
	b.get("/calls/"+d.createEndedCall(d.Tenant, call).String()).wantQuote(t, "exit status 3")
}
