package store_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/store"
	"patchbay/internal/testing/fixture"
)

// allowTools makes an agent that was granted a connector, and allows its tools for an hour.
func allowTools(t *testing.T, w *fixture.World, tools ...string) (connectors.Agent, connectors.Connector) {
	t.Helper()
	agent, c := w.Agent(t), w.Connector(t)
	w.Synced(t, c.ID, tools...)
	w.Grant(t, agent.ID, c.ID)
	for _, tool := range tools {
		if err := allowTool(t, w, agent, c, tool); err != nil {
			t.Fatal(err)
		}
	}
	return agent, c
}

func allowTool(t *testing.T, w *fixture.World, agent connectors.Agent, c connectors.Connector, tool string) error {
	t.Helper()
	return w.Door().Calls().AllowTool(t.Context(), agent.ID, connectors.Allowance{
		ConnectorID: c.ID, Tool: tool, Definition: fixture.Definition(tool).Hash, Until: time.Now().Add(time.Hour), GrantedBy: "Ada",
	})
}

// allowedTools lists an agent's tools with an allowance.
func allowedTools(t *testing.T, w *fixture.World, agent connectors.Agent) (tools []string) {
	t.Helper()
	list, err := w.Door().Calls().Allowances(t.Context(), agent.ID, store.Page{})
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range list.Items {
		tools = append(tools, a.Tool)
	}
	return tools
}

func TestAllowances_ListIsPagedAndSaysWhatIsInForce(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	agent, c := allowTools(t, w, "create")
	other := connectors.Allowance{ConnectorID: c.ID, Tool: "search", Definition: connectors.Hash{1}, Until: time.Now().Add(time.Hour)}
	if err := w.Door().Calls().AllowTool(t.Context(), agent.ID, other); err != nil {
		t.Fatal(err)
	}
	var found []store.AgentAllowance
	p := store.Page{Limit: 1}
	for {
		list, err := w.Door().Calls().Allowances(t.Context(), agent.ID, p)
		if err != nil || len(list.Items) != 1 {
			t.Fatal(list, err)
		}
		found = append(found, list.Items[0])
		if p.Cursor = list.Next; p.Cursor == "" {
			break
		}
	}
	if len(found) != 2 || found[0].Tool != "create" || !found[0].InForce || found[1].Tool != "search" || found[1].InForce {
		t.Errorf("%+v", found)
	}
	if found[0].Slug != c.Slug || found[0].Name != c.Name || found[0].GrantedBy != "Ada" {
		t.Errorf("%+v", found[0])
	}
}

func TestAllowance_EndsOnce(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	agent, c := allowTools(t, w, "create", "search")
	ended, err := w.Door().Calls().EndAllowance(t.Context(), agent.ID, c.ID, "search")
	if err != nil || ended.Tool != "search" || ended.GrantedBy != "Ada" {
		t.Errorf("%+v, %v", ended, err)
	}
	if _, err := w.Door().Calls().EndAllowance(t.Context(), agent.ID, c.ID, "search"); !fault.Is(err, fault.NotFound) {
		t.Errorf("ended twice: %v", err)
	}
	if diff := cmp.Diff([]string{"create"}, allowedTools(t, w, agent)); diff != "" {
		t.Error(diff)
	}
}

func TestAllowance_EndsWithWhatItIsAbout(t *testing.T) {
	t.Parallel()
	own := connectors.ApprovalTrustedOnly
	for name, tc := range map[string]struct {
		change func(t *testing.T, w *fixture.World, agent connectors.Agent, c connectors.Connector)
		left   []string
	}{
		"the grant is removed and made anew": {func(t *testing.T, w *fixture.World, agent connectors.Agent, c connectors.Connector) {
			t.Helper()
			if err := w.Door().Agents().DropGrant(t.Context(), agent.ID, c.ID); err != nil {
				t.Fatal(err)
			}
			w.Grant(t, agent.ID, c.ID)
		}, nil},
		"the grant covers fewer tools for a while": {func(t *testing.T, w *fixture.World, agent connectors.Agent, c connectors.Connector) {
			t.Helper()
			w.Grant(t, agent.ID, c.ID, fixture.Named("create"))
			w.Grant(t, agent.ID, c.ID)
		}, []string{"create"}},
		"the grant covers the same tools by name": {func(t *testing.T, w *fixture.World, agent connectors.Agent, c connectors.Connector) {
			t.Helper()
			w.Grant(t, agent.ID, c.ID, fixture.Named("create", "search"))
		}, []string{"create", "search"}},
		"the grant gets an approval mode": {func(t *testing.T, w *fixture.World, agent connectors.Agent, c connectors.Connector) {
			t.Helper()
			w.Grant(t, agent.ID, c.ID, func(g *connectors.Grant) { g.Approval = &own })
		}, nil},
		"the agent gets another approval mode": {func(t *testing.T, w *fixture.World, agent connectors.Agent, c connectors.Connector) {
			t.Helper()
			agent.Approval = own
			if _, err := w.Door().Agents().Update(t.Context(), agent); err != nil {
				t.Fatal(err)
			}
		}, nil},
		"the agent gets another name": {func(t *testing.T, w *fixture.World, agent connectors.Agent, c connectors.Connector) {
			t.Helper()
			agent.Name, agent.Slug = "Renamed", "renamed"
			if _, err := w.Door().Agents().Update(t.Context(), agent); err != nil {
				t.Fatal(err)
			}
		}, []string{"create", "search"}},
		"the connector is deleted": {func(t *testing.T, w *fixture.World, agent connectors.Agent, c connectors.Connector) {
			t.Helper()
			if err := w.Door().Connectors().Delete(t.Context(), c.ID); err != nil {
				t.Fatal(err)
			}
		}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := fixture.New(t)
			agent, c := allowTools(t, w, "create", "search")
			tc.change(t, w, agent, c)
			if diff := cmp.Diff(tc.left, allowedTools(t, w, agent)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestAllowance_OfGrantWithOwnModeStays(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	agent, c := w.Agent(t), w.Connector(t)
	w.Synced(t, c.ID, "search")
	own := connectors.ApprovalAlwaysAsk
	w.Grant(t, agent.ID, c.ID, func(g *connectors.Grant) { g.Approval = &own })
	if err := allowTool(t, w, agent, c, "search"); err != nil {
		t.Fatal(err)
	}
	agent.Approval = connectors.ApprovalTrustedOnly
	if _, err := w.Door().Agents().Update(t.Context(), agent); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"search"}, allowedTools(t, w, agent)); diff != "" {
		t.Error(diff)
	}
}

func TestAllowTool_NeedsAGrantThatCoversIt(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	agent, c := w.Agent(t), w.Connector(t)
	if err := allowTool(t, w, agent, c, "search"); !fault.Is(err, fault.NotFound) {
		t.Errorf("without a grant: %v", err)
	}
	w.Grant(t, agent.ID, c.ID, fixture.Named("create"))
	if err := allowTool(t, w, agent, c, "search"); !fault.Is(err, fault.NotFound) {
		t.Errorf("a tool that is not granted: %v", err)
	}
	if err := allowTool(t, w, agent, c, "create"); err != nil {
		t.Error(err)
	}
}
