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
	return w.Door().Calls().AddAllowance(t.Context(), agent.ID, connectors.Allowance{
		AllowanceKey: toolKey(c, tool), Definition: fixture.Definition(tool).Hash, Until: time.Now().Add(time.Hour), GrantedBy: "Ada",
	})
}

func toolKey(c connectors.Connector, tool string) connectors.AllowanceKey {
	return connectors.AllowanceKey{ConnectorID: c.ID, Kind: connectors.CallTool, Tool: tool}
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
	other := connectors.Allowance{AllowanceKey: toolKey(c, "search"), Definition: connectors.Hash{1}, Until: time.Now().Add(time.Hour)}
	if err := w.Door().Calls().AddAllowance(t.Context(), agent.ID, other); err != nil {
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
	ended, err := w.Door().Calls().EndAllowance(t.Context(), agent.ID, toolKey(c, "search"))
	if err != nil || len(ended) != 1 || ended[0].Tool != "search" || ended[0].GrantedBy != "Ada" {
		t.Errorf("%+v, %v", ended, err)
	}
	if _, err := w.Door().Calls().EndAllowance(t.Context(), agent.ID, toolKey(c, "search")); !fault.Is(err, fault.NotFound) {
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

// allowItems makes an agent with a grant of the prompt p and the resources file:///a and file:///b/{x}, and allows the uses
// of p, file:///a and file:///b/1 for an hour.
func allowItems(t *testing.T, w *fixture.World) (connectors.Agent, connectors.Connector) {
	t.Helper()
	agent, c := w.Agent(t), w.Connector(t)
	w.Synced(t, c.ID, "p")
	listItem(t, w, c, connectors.ItemPrompt, "p")
	listItem(t, w, c, connectors.ItemResource, "file:///a")
	listItem(t, w, c, connectors.ItemTemplate, "file:///b/{x}")
	w.Grant(t, agent.ID, c.ID)
	for _, k := range []connectors.AllowanceKey{{Kind: connectors.CallPrompt, Tool: "p"}, {Kind: connectors.CallResource, Tool: "file:///a"}, {Kind: connectors.CallResource, Tool: "file:///b/1"}} {
		if err := allowItem(t, w, agent, c, k.Kind, k.Tool); err != nil {
			t.Fatal(err)
		}
	}
	return agent, c
}

func listItem(t *testing.T, w *fixture.World, c connectors.Connector, kind connectors.ItemKind, key string) {
	t.Helper()
	w.AsSystem(t, "insert into connector_items (tenant_id, connector_id, kind, position, key, raw) values ($1, $2, $3, 1, $4, '{}')", []any{w.Tenant, c.ID, kind, key})
}

func allowItem(t *testing.T, w *fixture.World, agent connectors.Agent, c connectors.Connector, kind connectors.CallKind, name string) error {
	t.Helper()
	return w.Door().Calls().AddAllowance(t.Context(), agent.ID, connectors.Allowance{
		AllowanceKey: connectors.AllowanceKey{ConnectorID: c.ID, Kind: kind, Tool: name}, Until: time.Now().Add(time.Hour), GrantedBy: "Ada",
	})
}

// TestItemAllowance_EndsWithWhatItIsAbout changes the grant of a prompt, a listed resource and one of a template.
func TestItemAllowance_EndsWithWhatItIsAbout(t *testing.T) {
	t.Parallel()
	all := []string{"file:///a", "file:///b/1", "p"}
	for name, tc := range map[string]struct {
		change func(g *connectors.Grant)
		left   []string
	}{
		"the same":          {func(*connectors.Grant) {}, all},
		"other tools":       {func(g *connectors.Grant) { g.AllTools, g.Tools = false, []string{"x"} }, all},
		"without prompts":   {func(g *connectors.Grant) { g.Prompts = connectors.PromptsNone }, all[:2]},
		"listed resources":  {func(g *connectors.Grant) { g.Resources = connectors.ResourcesListed }, []string{"file:///a", "p"}},
		"without resources": {func(g *connectors.Grant) { g.Resources = connectors.ResourcesNone }, all[2:]},
		"another mode":      {func(g *connectors.Grant) { g.Approval = new(connectors.ApprovalAskAll) }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := fixture.New(t)
			agent, c := allowItems(t, w)
			w.Grant(t, agent.ID, c.ID, func(g *connectors.Grant) {
				g.Prompts, g.Resources = connectors.PromptsListed, connectors.ResourcesListedTemplates
				tc.change(g)
			})
			if diff := cmp.Diff(tc.left, allowedTools(t, w, agent)); diff != "" {
				t.Error(diff)
			}
		})
	}
	t.Run("the agent gets another mode", func(t *testing.T) {
		t.Parallel()
		w := fixture.New(t)
		agent, _ := allowItems(t, w)
		agent.Approval = connectors.ApprovalAskAll
		if _, err := w.Door().Agents().Update(t.Context(), agent); err != nil {
			t.Fatal(err)
		}
		if left := allowedTools(t, w, agent); left != nil {
			t.Error(left)
		}
	})
}

func TestItemAllowance_IsOneOfItsKind(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	agent, c := allowItems(t, w)
	if err := allowTool(t, w, agent, c, "p"); err != nil { // a tool and a prompt of one name
		t.Fatal(err)
	}
	p := store.Page{Limit: 1}
	var kinds []connectors.CallKind
	for {
		list, err := w.Door().Calls().Allowances(t.Context(), agent.ID, p)
		if err != nil || len(list.Items) != 1 || !list.Items[0].InForce {
			t.Fatal(list, err)
		}
		kinds = append(kinds, list.Items[0].Kind)
		if p.Cursor = list.Next; p.Cursor == "" {
			break
		}
	}
	if diff := cmp.Diff([]connectors.CallKind{connectors.CallResource, connectors.CallResource, connectors.CallPrompt, connectors.CallTool}, kinds); diff != "" {
		t.Error(diff)
	}
	ended, err := w.Door().Calls().EndAllowance(t.Context(), agent.ID, connectors.AllowanceKey{ConnectorID: c.ID, Kind: connectors.CallPrompt, Tool: "p"})
	if err != nil || len(ended) != 1 || ended[0].Kind != connectors.CallPrompt {
		t.Errorf("%+v, %v", ended, err)
	}
	if diff := cmp.Diff([]string{"file:///a", "file:///b/1", "p"}, allowedTools(t, w, agent)); diff != "" {
		t.Errorf("the tool's allowance: %s", diff)
	}
	w.AsSystem(t, "delete from connector_items where kind = 'prompt'", nil)
	if err := allowItem(t, w, agent, c, connectors.CallPrompt, "p"); err != nil {
		t.Fatal(err)
	}
	list, err := w.Door().Calls().Allowances(t.Context(), agent.ID, store.Page{})
	if err != nil || list.Items[2].Kind != connectors.CallPrompt || list.Items[2].InForce {
		t.Errorf("a prompt that is not listed: %+v, %v", list.Items, err)
	}
}

func TestAddAllowance_NeedsAGrantThatCoversTheItem(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	agent, c := allowItems(t, w)
	w.Grant(t, agent.ID, c.ID, func(g *connectors.Grant) { g.Prompts, g.Resources = connectors.PromptsNone, connectors.ResourcesListed })
	for name, tc := range map[string]struct {
		kind connectors.CallKind
		item string
		ok   bool
	}{
		"a prompt":                 {connectors.CallPrompt, "p", false},
		"a resource of a template": {connectors.CallResource, "file:///b/1", false},
		"a listed resource":        {connectors.CallResource, "file:///a", true},
	} {
		if err := allowItem(t, w, agent, c, tc.kind, tc.item); tc.ok != (err == nil) || !tc.ok && !fault.Is(err, fault.NotFound) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
