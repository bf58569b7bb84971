package admin_test

import (
	"crypto/rand"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"patchbay/internal/connectors"
)

// createRegistry creates a registry of one agent.
func (d *dashboard) createRegistry(tenant connectors.TenantID, agent string) connectors.RegistryID {
	d.t.Helper()
	r, err := d.St.Tenant(tenant).Registries().Create(d.t.Context(), connectors.Registry{Name: "Team", Agents: []string{agent}}, []byte(rand.Text()+"123456"))
	if err != nil {
		d.t.Fatal(err)
	}
	return r.ID
}

func TestRegistryPages_ShowTheURLOnceAndSave(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	agent := d.Agent(t, func(a *connectors.Agent) { a.Name, a.Slug = "Support", "support" })
	b := d.signInAsRole(connectors.RoleAdmin)
	b.get("/registries/new").want(t, http.StatusOK, `name="agent" value="support"`, "Require an agent's token")
	b.post("/registries", url.Values{"name": {"Team"}, "lists": {"agents"}}).want(t, http.StatusUnprocessableEntity, "Choose at least one agent")
	b.post("/registries", url.Values{"name": {"Team"}, "lists": {"agents"}, "agent": {agent.Slug}}).want(t, http.StatusOK, d.base+"/registry/", "shown only once", "URL of “Team”")
	list := b.get("/registries")
	list.want(t, http.StatusOK, "Team", "1 agent", "1 registry")
	_, rest, _ := strings.Cut(list.Body, `href="/registries/0`)
	id, _, _ := strings.Cut(rest, `"`)
	path := "/registries/0" + id
	if shown := b.get(path); shown.Status != http.StatusOK || strings.Contains(shown.Body, "/registry/") || !strings.Contains(shown.Body, `value="support" checked`) {
		t.Errorf("the page shows the URL again, or not the agent: %d", shown.Status)
	}
	b.post(path, url.Values{"name": {"All"}, "lists": {"all"}, "agent": {agent.Slug}, "token_required": {"true"}}).want(t, http.StatusSeeOther)
	b.get("/registries").want(t, http.StatusOK, "All connectors", "URL and token")
	b.post(path, url.Values{"name": {""}, "lists": {"all"}}).want(t, http.StatusUnprocessableEntity, "Must be 1–100 characters.")
	b.post(path+"/rotate", nil).want(t, http.StatusOK, d.base+"/registry/")
	b.post(path+"/delete", nil).want(t, http.StatusSeeOther)
	b.get("/registries").want(t, http.StatusOK, "No registries yet")
}
