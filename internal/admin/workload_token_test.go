package admin_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"patchbay/internal/admin"
	"patchbay/internal/config"
	"patchbay/internal/connectors"
)

func TestWorkloadToken_IsOfferedAtItsServer(t *testing.T) {
	t.Parallel()
	d := newDashboard(t, func(o *admin.Options) {
		o.Registry = o.Registry.WithWorkloadTokens(map[string]config.WorkloadToken{
			"billing": {File: "/token", Servers: []string{"mcp.example.com"}, Tenants: []string{"*"}},
			"foreign": {File: "/token", Servers: []string{"mcp.example.com"}, Tenants: []string{"another"}},
			"remote":  {File: "/token", Servers: []string{"other.example.com"}, Tenants: []string{"*"}},
		})
	})
	c := d.Connector(t, func(draft *connectors.Draft) {
		draft.Slug, draft.URL, draft.Auth.Type, draft.OAuth.ClientID = "linear", "https://mcp.example.com/mcp", connectors.AuthClientCredentials, "workload"
	})
	b := d.signInAsRole(connectors.RoleAdmin)
	p := b.get("/connectors/linear/credentials")
	p.want(t, http.StatusOK, "Workload token", `value="billing"`)
	if strings.Contains(p.Body, "foreign") || strings.Contains(p.Body, "remote") {
		t.Error("another tenant's or server's token is offered")
	}
	b.submit("/connectors/linear/credential", url.Values{"workload_token": {"billing"}}).want(t, http.StatusOK, "Credential saved")
	g, err := d.St.Vault(d.Tenant).Grant(t.Context(), c.ID, nil)
	if err != nil || g.Tokens.Machine.WorkloadToken != "billing" {
		t.Errorf("%+v, %v", g.Credential, err)
	}
}
