package admin_test

import (
	"net/http"
	"strings"
	"testing"

	"patchbay/internal/connectors"
	"patchbay/internal/store"
)

func TestCall_NamesItsToken(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	a, c := d.Agent(t, func(a *connectors.Agent) { a.Slug = "support" }), d.Connector(t)
	token := d.createToken(d.Tenant, a.ID)
	list, err := d.Door().Agents().Tokens(t.Context(), a.ID, store.Page{})
	if err != nil || len(list.Items) != 1 {
		t.Fatal(list, err)
	}
	call := newCall(a, c, connectors.CallSuccess)
	call.TokenID = &token
	id := d.createEndedCall(d.Tenant, call)
	viewer := d.signInAsRole(connectors.RoleViewer)
	p := viewer.get("/calls/" + id.String())
	p.want(t, http.StatusOK, list.Items[0].Name, `href="/agents/support/connect#tokens"`)
	if strings.Contains(p.Body, token.String()) {
		t.Error("the page shows the token's id")
	}
	if _, err := d.Door().Agents().DeleteToken(t.Context(), a.ID, token); err != nil {
		t.Fatal(err)
	}
	viewer.get("/calls/"+id.String()).want(t, http.StatusOK, token.String(), "revoked")
}
