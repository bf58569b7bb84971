package api_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"patchbay/client"
	"patchbay/internal/connectors"
)

// newGoClient is the Go client of w, with a real listener.
func (w *world) newGoClient(t *testing.T, role connectors.Role) *client.Client {
	t.Helper()
	server := httptest.NewServer(w.handler)
	t.Cleanup(server.Close)
	c, err := client.New(server.URL, w.createKey(t, role), client.WithHTTPClient(server.Client()))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestTheGoClientDoesWhatTheAPIDoes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c, ctx := w.newGoClient(t, connectors.RoleOwner), t.Context()
	connector := w.Connector(t)
	w.Synced(t, connector.ID, "search", "pay")
	for _, name := range []string{"One", "Two", "Three"} {
		if _, err := c.CreateAgent(ctx, client.AgentCreate{Name: name}); err != nil {
			t.Fatal(err)
		}
	}
	var names []string
	for agent, err := range c.AllAgents(ctx, client.ListAgentsQuery{Limit: 1}) {
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, agent.Name)
	}
	slices.Sort(names)
	if d := cmp.Diff([]string{"One", "Three", "Two"}, names); d != "" {
		t.Error(d)
	}
	tools := client.ToolSet{Names: []string{"search"}}
	if err := c.GrantConnector(ctx, "two", connector.Slug, client.AgentGrantPut{Tools: tools}); err != nil {
		t.Fatal(err)
	}
	grants, err := c.ListAgentConnectors(ctx, "two", client.ListAgentConnectorsQuery{})
	if err != nil || len(grants.Items) != 1 || !cmp.Equal(grants.Items[0].Tools, tools) {
		t.Errorf("%+v, %v", grants, err)
	}
	all, err := c.ListConnectorTools(ctx, connector.Slug, client.ListConnectorToolsQuery{Q: "sea"})
	if err != nil || len(all.Items) != 1 || all.Items[0].Tool == nil || all.Items[0].Tool.Name != "search" || !json.Valid(all.Items[0].Tool.InputSchema) {
		t.Errorf("%+v, %v", all, err)
	}
	updated, err := c.UpdateAgent(ctx, "two", client.AgentPatch{Enabled: new(false)})
	if err != nil || updated.Enabled || updated.Name != "Two" {
		t.Errorf("%+v, %v", updated, err)
	}
	if err := c.DeleteAgent(ctx, "two"); err != nil {
		t.Error(err)
	}
	_, err = c.GetAgent(ctx, "two")
	wantProblem(t, err, http.StatusNotFound, "")
}

func TestTheGoClientSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, err := w.newGoClient(t, connectors.RoleViewer).CreateAgent(t.Context(), client.AgentCreate{Name: "A"})
	wantProblem(t, err, http.StatusForbidden, "")
	_, err = w.newGoClient(t, connectors.RoleAdmin).CreateConnector(t.Context(), client.ConnectorCreate{Name: "A", URL: new("not a url")})
	wantProblem(t, err, http.StatusUnprocessableEntity, "url")
}

func wantProblem(t *testing.T, err error, status int, field string) {
	t.Helper()
	p, ok := errors.AsType[*client.Problem](err)
	if !ok || p.Status != status || !strings.Contains(p.Error(), field) || field != "" && (len(p.Fields) == 0 || p.Fields[0].Location != field) {
		t.Errorf("%+v, want %d of %q", err, status, field)
	}
}
