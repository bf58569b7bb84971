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

// spell is what a server writes in all places that it has.
const spell = "IGNORE_ALL_BEFORE"

// places are the paths of the strings that have the spell, and of the members that do.
func places(path string, v any) []string {
	var found []string
	switch v := v.(type) {
	case string:
		if strings.Contains(v, spell) {
			found = append(found, path)
		}
	case []any:
		for _, item := range v {
			found = append(found, places(path+"[]", item)...)
		}
	case map[string]any:
		for name, item := range v {
			found = append(found, places(path+"."+name, item)...)
		}
	}
	return found
}

func TestWhatAServerWroteStandsInMembersThatSayThatItIsUntrusted(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.Connector(t, func(d *connectors.Draft) { d.Slug = "odd" })
	w.Synced(t, c.ID, spell)
	w.Says(t, c.ID, spell, fixture.DefinitionOf(spell, fmt.Sprintf(`{"name":%q,"description":"%s!","inputSchema":{"type":"object"}}`, spell, spell)))
	agent := w.Agent(t)
	w.Grant(t, agent.ID, c.ID, fixture.Named(spell))
	a := w.enter(t, w.key(t, w.Tenant, connectors.RoleOwner), newest, "")
	for tool, least := range map[string]int{"list_connectors": 1, "list_agents": 1, "list_tool_changes": 1} {
		got, err := a.CallTool(t.Context(), &sdk.CallToolParams{Name: tool, Arguments: map[string]any{}})
		if err != nil || got.IsError {
			t.Fatalf("%s: %v, %s", tool, err, words(got))
		}
		found := places("", got.StructuredContent)
		if len(found) < least {
			t.Errorf("%s: the spell stands at %q", tool, found)
		}
		for _, place := range found {
			if !strings.Contains(place, ".untrusted.") {
				t.Errorf("%s: the spell stands at %s", tool, place)
			}
		}
		if says := got.Content[0].(*sdk.TextContent).Text; strings.Contains(says, spell) {
			t.Errorf("%s says %q", tool, says)
		}
	}
}

// A program that signs in gives a part of its agent's name, and a registry what a connector is called: no admin wrote either.
func TestWhatAStrangerNamedStandsInMembersThatSayThatItIsUntrusted(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Connector(t, func(d *connectors.Draft) { d.Slug, d.Name, d.Description = "listed", spell, spell })
	w.Agent(t, func(a *connectors.Agent) { a.Slug, a.Name, a.Description = "robin", "Ada: "+spell, spell })
	w.Member(t, connectors.RoleOwner, func(n *store.NewMember) { n.Name = spell })
	key := w.key(t, w.Tenant, connectors.RoleOwner)
	if _, err := w.program(t, key).CreateAgent(t.Context(), client.AgentCreate{Name: spell, Slug: new("recorded")}); err != nil {
		t.Fatal(err)
	}
	a := w.enter(t, key, newest, "")
	found := map[string]any{}
	for _, tool := range []string{"list_connectors", "list_agents", "list_audit_events"} {
		var got any
		a.does(t, tool, nil, &got)
		found[tool] = got
	}
	for _, uri := range []string{"patchbay://connectors/listed", "patchbay://agents/robin"} {
		var got map[string]any
		if err := a.reads(t, uri, &got); err != nil {
			t.Fatal(err)
		}
		found[uri] = got
	}
	for at, got := range found {
		all := places("", got)
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
		if err != nil || strings.Contains(r.Title+r.Name+r.Description, spell) {
			t.Errorf("a resource is called %q, %q: %v", r.Name, r.Title, err)
		}
	}
}

// A refusal names what it is about, by names that a registry, a program or a member gave.
func TestARefusalAndWhoDecidedStandInMembersThatSayThatTheyAreUntrusted(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c, agent := w.arrange(t)
	w.AsSystem(t, "update agents set approval = 'always_ask' where id = $1", []any{agent.ID.UUID})
	w.Connector(t, func(d *connectors.Draft) { d.Slug, d.Name = "listed", spell })
	key := w.key(t, w.Tenant, connectors.RoleOwner)
	a := w.enter(t, key, newest, "accept")
	got, err := a.CallTool(t.Context(), &sdk.CallToolParams{Name: "connect_account", Arguments: map[string]any{"connector": "listed"}})
	if err != nil || !got.IsError || len(got.Content) != 2 {
		t.Fatalf("%v, %s", err, words(got))
	}
	var detail struct{ Untrusted struct{ Detail string } }
	if err := json.Unmarshal([]byte(got.Content[1].(*sdk.TextContent).Text), &detail); err != nil || !strings.Contains(detail.Untrusted.Detail, spell) {
		t.Errorf("%+v, %v", detail, err)
	}
	if says := got.Content[0].(*sdk.TextContent).Text; strings.Contains(says, spell) || !strings.Contains(says, "refused") {
		t.Errorf("it says %q", says)
	}

	waiting, err := w.program(t, key).CallTool(t.Context(), agent.Slug, client.ToolCallCreate{Tool: "mcp_" + c.Slug + "__search"})
	if err != nil || waiting.Status != "pending_approval" {
		t.Fatalf("%s, %v", waiting.Status, err)
	}
	w.Resynced(t, c.ID, fixture.DefinitionOf("search", `{"name":"search","description":"Another one.","inputSchema":{"type":"object"}}`))
	w.AsSystem(t, "update tool_calls set approved_by = $1", []any{spell})
	w.AsSystem(t, "update tool_changes set state = 'accepted', decided_at = now(), decided_by = $1", []any{spell})
	for tool, arguments := range map[string]map[string]any{"list_tool_calls": nil, "list_tool_changes": {"state": "any"}} {
		var listed any
		a.does(t, tool, arguments, &listed)
		found := places("", listed)
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

// Whoever decides is told that there is more of the arguments than the question shows, how much, and where.
func TestAQuestionSaysWhatItLeavesOut(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c, agent := w.arrange(t)
	w.AsSystem(t, "update agents set approval = 'always_ask' where id = $1", []any{agent.ID.UUID})
	key := w.key(t, w.Tenant, connectors.RoleOwner)
	a := w.enter(t, key, newest, "decline")
	for length, want := range map[int]string{10: `with the arguments "`, 5000: "with arguments of 5008 characters?"} {
		argument, _ := json.Marshal(strings.Repeat("x", length-1) + "y")
		waiting, err := w.program(t, key).CallTool(t.Context(), agent.Slug, client.ToolCallCreate{
			Tool: "mcp_" + c.Slug + "__search", Arguments: map[string]json.RawMessage{"q": argument},
		})
		if err != nil || waiting.Status != "pending_approval" {
			t.Fatalf("%s, %v", waiting.Status, err)
		}
		a.refused(t, "decide_approval", map[string]any{"call": waiting.ID, "verdict": "approve"})
		says := a.asked[len(a.asked)-1]
		whole, linked := strings.Contains(says, "xy"), strings.Contains(says, w.url+"/approvals/"+waiting.ID)
		if !strings.Contains(says, want) || whole == linked || whole != (length < 100) {
			t.Errorf("%d characters: %.200s …", length, says)
		}
	}
}
