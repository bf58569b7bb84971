package admin_test

import (
	"net/http"
	"net/url"
	"testing"

	"patchbay/internal/connectors"
)

// createWorkload creates a workload of an agent.
func (d *dashboard) createWorkload(tenant connectors.TenantID, agent connectors.AgentID) connectors.AgentWorkloadID {
	d.t.Helper()
	made, err := d.St.Tenant(tenant).Workloads().Create(d.t.Context(), connectors.Workload{AgentID: agent, Name: "deploy", Issuer: "https://issuer.example.com", Subject: "job"})
	if err != nil {
		d.t.Fatal(err)
	}
	return made.ID
}

func TestWorkloads_AreAddedAndRemovedOnTheConnectTab(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	agent := d.Agent(t)
	b := d.signInAsRole(connectors.RoleAdmin)
	page := "/agents/" + agent.Slug + "/connect"
	b.get(page).want(t, http.StatusOK, "No workloads yet", "Add workload")
	form := url.Values{"name": {"deploy"}, "kind": {"kubernetes"}, "subject": {"repo:acme/app:ref:refs/heads/main"}}
	b.post("/agents/"+agent.Slug+"/workloads", form).want(t, http.StatusUnprocessableEntity, "Enter the issuer")
	form.Set("kind", "github")
	b.submit("/agents/"+agent.Slug+"/workloads", form)
	list, err := d.Door().Workloads().List(t.Context(), agent.ID)
	if err != nil || len(list) != 1 || list[0].Issuer != "https://token.actions.githubusercontent.com" || list[0].Keys != nil {
		t.Fatalf("%+v, %v", list, err)
	}
	b.get(page).want(t, http.StatusOK, list[0].ID.String(), "repo:acme/app:ref:refs/heads/main", "grant_type=urn:ietf:params:oauth:grant-type:jwt-bearer")
	b.submit("/agents/"+agent.Slug+"/workloads/"+list[0].ID.String()+"/remove", nil)
	b.get(page).want(t, http.StatusOK, "No workloads yet")
}
