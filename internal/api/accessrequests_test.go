package api_test

import (
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"patchbay/internal/connectors"
)

// createAccessRequest asks for an agent's access, as a person that no key of a test is.
func (w *world) createAccessRequest(t *testing.T, tenant connectors.TenantID, a connectors.Agent, c connectors.Connector) connectors.AccessRequestID {
	t.Helper()
	id, err := w.St.Tenant(tenant).AccessRequests().Create(t.Context(), connectors.AccessRequest{
		AgentID: a.ID, ConnectorID: c.ID, AllTools: true, Reason: "For a report.", Asker: uuid.New(), AskedBy: "Ada",
	})
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// askActions prepares an action on a request for access.
func askActions(action string) func(t *testing.T, w *world) func() error {
	return func(t *testing.T, w *world) func() error {
		t.Helper()
		agent, c := w.Agent(t), w.Connector(t)
		admin, member := w.createKey(t, connectors.RoleAdmin), w.createKey(t, connectors.RoleMember)
		body := `{"agent": "` + agent.Slug + `", "connector": "` + c.Slug + `", "tools": ["search"], "reason": "For a report."}`
		if action == "ask" {
			return w.sendRequest(t, member, http.MethodPost, "/api/v1/access_requests", body)
		}
		got := w.call(t, member, http.MethodPost, "/api/v1/access_requests", body)
		path := "/api/v1/access_requests/" + got.want(http.StatusCreated)["id"].(string)
		key := admin
		if action == "withdraw" {
			key = member
		}
		return w.sendRequest(t, key, http.MethodPost, path+"/"+action, nil)
	}
}

func TestAccessRequest_AskedAndAccepted(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	admin, member, agent, c := w.createKey(t, connectors.RoleAdmin), w.createKey(t, connectors.RoleMember), w.Agent(t), w.Connector(t)
	w.Synced(t, c.ID, "create", "search")
	w.Grant(t, agent.ID, c.ID, func(g *connectors.Grant) { g.AllTools, g.Tools = false, []string{"search"} })
	asked := w.call(t, member, http.MethodPost, "/api/v1/access_requests",
		`{"agent": "`+agent.Slug+`", "connector": "`+c.Slug+`", "tools": ["create"], "reason": "For a report.", "until": "2090-01-31T12:00:00Z"}`).want(http.StatusCreated)
	path := "/api/v1/access_requests/" + asked["id"].(string)
	review := w.call(t, admin, http.MethodGet, path, nil).want(http.StatusOK)
	want := []any{map[string]any{"tool": "create", "effect": "unsaid", "review": "accepted", "enabled": true, "calls": 0.0, "failed": 0.0, "refused": 0.0}}
	if diff := cmp.Diff(want, review["review"]); diff != "" {
		t.Error(diff)
	}
	ends := map[string]any{"tools": []any{map[string]any{"tool": "create", "until": "2090-01-31T12:00:00Z"}}}
	if diff := cmp.Diff(ends, review["grants"].(map[string]any)["ends"]); diff != "" {
		t.Error(diff)
	}
	if got := w.call(t, member, http.MethodGet, path, nil).want(http.StatusOK); len(got["review"].([]any)) != 0 {
		t.Error("a member sees what a decision rests on")
	}
	w.call(t, member, http.MethodPost, path+"/accept", nil).problem(http.StatusForbidden, "denied")
	if got := w.call(t, admin, http.MethodPost, path+"/accept", nil).want(http.StatusOK); got["state"] != "accepted" {
		t.Errorf("%v", got)
	}
	w.call(t, admin, http.MethodPost, path+"/refuse", nil).problem(http.StatusConflict, "conflict")
	grant := w.call(t, admin, http.MethodGet, "/api/v1/agents/"+agent.Slug+"/connectors", nil).want(http.StatusOK)["items"].([]any)[0].(map[string]any)
	if diff := cmp.Diff(ends, grant["ends"]); diff != "" {
		t.Error(diff)
	}
	if got := w.call(t, admin, http.MethodGet, "/api/v1/access_requests?state=open", nil).want(http.StatusOK); len(got["items"].([]any)) != 0 {
		t.Error("the request is still open")
	}
}
