package mcpadmin_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"patchbay/client"
	"patchbay/internal/connectors"
	"patchbay/internal/store"
	"patchbay/internal/testing/fixture"
)

// marker is in every text of the test server.
const marker = "IGNORE_ALL_BEFORE"

// findMarker returns the paths of strings and member names with the marker.
func findMarker(path string, v any) []string {
	var found []string
	switch v := v.(type) {
	case string:
		if strings.Contains(v, marker) {
			found = append(found, path)
		}
	case []any:
		for _, item := range v {
			found = append(found, findMarker(path+"[]", item)...)
		}
	case map[string]any:
		for name, item := range v {
			found = append(found, findMarker(path+"."+name, item)...)
		}
	}
	return found
}

func TestUntrusted_ServerTexts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.Connector(t, func(d *connectors.Draft) { d.Slug = "odd" })
	w.Synced(t, c.ID, marker)
	w.Says(t, c.ID, marker, fixture.DefinitionOf(marker, fmt.Sprintf(`{"name":%q,"description":"%s!","inputSchema":{"type":"object"}}`, marker, marker)))
	agent := w.Agent(t)
	w.Grant(t, agent.ID, c.ID, fixture.Named(marker))
	a := w.connect(t, w.newAPIKey(t, w.Tenant, connectors.RoleOwner), newest, "")
	for tool, least := range map[string]int{"list_connectors": 1, "list_agents": 1, "list_tool_changes": 1} {
		got, err := a.CallTool(t.Context(), &sdk.CallToolParams{Name: tool, Arguments: map[string]any{}})
		if err != nil || got.IsError {
			t.Fatalf("%s: %v, %s", tool, err, resultText(got))
		}
		found := findMarker("", got.StructuredContent)
		if len(found) < least {
			t.Errorf("%s: the spell stands at %q", tool, found)
		}
		for _, place := range found {
			if !strings.Contains(place, ".untrusted.") {
				t.Errorf("%s: the spell stands at %s", tool, place)
			}
		}
		if says := got.Content[0].(*sdk.TextContent).Text; strings.Contains(says, marker) {
			t.Errorf("%s says %q", tool, says)
		}
	}
}

// Programs name their agents and registries their connectors: no admin wrote either.
func TestUntrusted_NamesOfStrangers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Connector(t, func(d *connectors.Draft) { d.Slug, d.Name, d.Description = "listed", marker, marker })
	w.Agent(t, func(a *connectors.Agent) { a.Slug, a.Name, a.Description = "robin", "Ada: "+marker, marker })
	w.Member(t, connectors.RoleOwner, func(n *store.NewMember) { n.Name = marker })
	key := w.newAPIKey(t, w.Tenant, connectors.RoleOwner)
	if _, err := w.apiClient(t, key).CreateAgent(t.Context(), client.AgentCreate{Name: marker, Slug: new("recorded")}); err != nil {
		t.Fatal(err)
	}
	a := w.connect(t, key, newest, "")
	found := map[string]any{}
	for _, tool := range []string{"list_connectors", "list_agents", "list_audit_events"} {
		var got any
		a.callTool(t, tool, nil, &got)
		found[tool] = got
	}
	for _, uri := range []string{"patchbay://connectors/listed", "patchbay://agents/robin"} {
		var got map[string]any
		if err := a.readResource(t, uri, &got); err != nil {
			t.Fatal(err)
		}
		found[uri] = got
	}
	for at, got := range found {
		all := findMarker("", got)
		if len(all) == 0 {
			t.Errorf("%s has nothing of it", at)
		}
		for _, place := range all {
			if !strings.Contains(place, ".untrusted.") {
				t.Errorf("%s: the spell stands at %s", at, place)
			}
		}
	}
	for r, err := range a.Resources(t.Context(), nil) {
		if err != nil || strings.Contains(r.Title+r.Name+r.Description, marker) {
			t.Errorf("a resource is called %q, %q: %v", r.Name, r.Title, err)
		}
	}
}

// A refusal contains names from registries, programs and members.
func TestUntrusted_RefusalsAndDeciders(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c, agent := w.seedTool(t)
	w.AsSystem(t, "update agents set approval = 'always_ask' where id = $1", []any{agent.ID.UUID})
	w.Connector(t, func(d *connectors.Draft) { d.Slug, d.Name = "listed", marker })
	key := w.newAPIKey(t, w.Tenant, connectors.RoleOwner)
	a := w.connect(t, key, newest, "accept")
	got, err := a.CallTool(t.Context(), &sdk.CallToolParams{Name: "connect_account", Arguments: map[string]any{"connector": "listed"}})
	if err != nil || !got.IsError || len(got.Content) != 2 {
		t.Fatalf("%v, %s", err, resultText(got))
	}
	var detail struct{ Untrusted struct{ Detail string } }
	if err := json.Unmarshal([]byte(got.Content[1].(*sdk.TextContent).Text), &detail); err != nil || !strings.Contains(detail.Untrusted.Detail, marker) {
		t.Errorf("%+v, %v", detail, err)
	}
	if says := got.Content[0].(*sdk.TextContent).Text; strings.Contains(says, marker) || !strings.Contains(says, "Refused:") {
		t.Errorf("it says %q", says)
	}

	waiting, err := w.apiClient(t, key).CallTool(t.Context(), agent.Slug, client.CallToolQuery{}, client.ToolCallCreate{Tool: "mcp_" + c.Slug + "__search"})
	if err != nil || waiting.Status != "pending_approval" {
		t.Fatalf("%s, %v", waiting.Status, err)
	}
	w.Resynced(t, c.ID, fixture.DefinitionOf("search", `{"name":"search","description":"Another one.","inputSchema":{"type":"object"}}`))
	w.AsSystem(t, "update tool_calls set approved_by = $1", []any{marker})
	w.AsSystem(t, "update tool_changes set state = 'accepted', decided_at = now(), decided_by = $1", []any{marker})
	for tool, arguments := range map[string]map[string]any{"list_tool_calls": nil, "list_tool_changes": {"state": "any"}} {
		var listed any
		a.callTool(t, tool, arguments, &listed)
		found := findMarker("", listed)
		if len(found) == 0 {
			t.Errorf("%s has nothing of it", tool)
		}
		for _, place := range found {
			if !strings.Contains(place, ".untrusted.") {
				t.Errorf("%s: the spell stands at %s", tool, place)
			}
		}
	}
}

// The deciding person is told how much of the arguments is missing, and where it is.
func TestQuestion_StatesWhatItOmits(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c, agent := w.seedTool(t)
	w.AsSystem(t, "update agents set approval = 'always_ask' where id = $1", []any{agent.ID.UUID})
	key := w.newAPIKey(t, w.Tenant, connectors.RoleOwner)
	a := w.connect(t, key, newest, "decline")
	for length, want := range map[int]string{10: `with the arguments "`, 5000: "with arguments of 5008 characters?"} {
		argument, _ := json.Marshal(strings.Repeat("x", length-1) + "y")
		waiting, err := w.apiClient(t, key).CallTool(t.Context(), agent.Slug, client.CallToolQuery{}, client.ToolCallCreate{
			Tool: "mcp_" + c.Slug + "__search", Arguments: map[string]json.RawMessage{"q": argument},
		})
		if err != nil || waiting.Status != "pending_approval" {
			t.Fatalf("%s, %v", waiting.Status, err)
		}
		a.callRefused(t, "decide_approval", map[string]any{"call": waiting.ID, "verdict": "approve"})
		says := a.questions[len(a.questions)-1]
		whole, linked := strings.Contains(says, "xy"), strings.Contains(says, w.url+"/approvals/"+waiting.ID)
		if !strings.Contains(says, want) || whole == linked || whole != (length < 100) {
			t.Errorf("%d characters: %.200s …", length, says)
		}
	}
}
