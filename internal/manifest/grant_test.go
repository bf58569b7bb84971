package manifest

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"patchbay/client"
)

func granted(all bool, names []string, prompts, resources string) client.AgentGrant {
	return client.AgentGrant{Connector: "c", Tools: client.ToolSet{All: all, Names: names}, Prompts: prompts, Resources: resources}
}

// TestGrants_WrittenGrantDoesNotDiffer writes grants, reads them and plans the steps to them.
func TestGrants_WrittenGrantDoesNotDiffer(t *testing.T) {
	t.Parallel()
	friday := time.Date(2027, 1, 1, 12, 0, 0, 0, time.UTC)
	for name, tc := range map[string]struct {
		grant client.AgentGrant
		text  string
	}{
		"the default of all tools":   {granted(true, nil, "listed", "listed_and_templates"), "c: all"},
		"the default of named tools": {granted(false, []string{"a"}, "none", "none"), "- a"},
		"all tools without prompts":  {granted(true, nil, "none", "listed"), "resources: listed"},
		"pinned tools":               {client.AgentGrant{Connector: "c", Tools: client.ToolSet{Names: []string{"a", "b"}}, PinnedTools: []string{"a"}, Prompts: "none", Resources: "none"}, "pinned_tools:"},
		"an account":                 {client.AgentGrant{Connector: "c", Tools: client.ToolSet{All: true}, Account: new("work"), Prompts: "listed", Resources: "listed_and_templates"}, "account: work"},
		"an end": {client.AgentGrant{
			Connector: "c", Tools: client.ToolSet{All: true}, Prompts: "listed", Resources: "listed_and_templates",
			Ends: client.GrantEnds{Until: &friday, Tools: []client.ToolEnd{{Tool: "a", Until: &friday}, {Tool: "b"}}},
		}, "until: \"2027-01-01T12:00:00Z\""},
		"shortened answers": {client.AgentGrant{
			Connector: "c", Tools: client.ToolSet{All: true}, Prompts: "listed", Resources: "listed_and_templates",
			Shaping: []client.ToolShaping{{Tool: "a", Budget: new(int64(500))}, {Tool: "b", Fields: new(".id")}},
		}, "budget: 500"},
		"named tools with prompts": {granted(false, []string{"a"}, "listed", "none"), "prompts: listed"},
	} {
		state := State{
			Connectors: map[string]client.Connector{}, Agents: map[string]client.Agent{"robot": {Slug: "robot", Enabled: true}},
			Grants: map[string]map[string]client.AgentGrant{"robot": {"c": tc.grant}},
		}
		var text strings.Builder
		if err := Write(&text, state); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(text.String(), tc.text) {
			t.Errorf("%s: written as\n%s", name, text.String())
		}
		file, err := Read([]byte(text.String()), Sources{})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		state.Connectors["c"] = client.Connector{Slug: "c"}
		if steps, err := Plan(t.Context(), nil, file, state, Options{}); err != nil || len(steps) != 0 {
			t.Errorf("%s: %+v (%v)", name, steps, err)
		}
	}
}

func TestGrants_PromptsAreComparedIfTheFileHasThem(t *testing.T) {
	t.Parallel()
	state := State{
		Connectors: map[string]client.Connector{"c": {Slug: "c"}}, Agents: map[string]client.Agent{"robot": {Slug: "robot"}},
		Grants: map[string]map[string]client.AgentGrant{"robot": {"c": granted(false, []string{"a"}, "listed", "listed_and_templates")}},
	}
	for text, want := range map[string][]Field{
		"agents: {robot: {connectors: {c: [a]}}}":                                              nil,
		"agents: {robot: {connectors: {c: {tools: [a], prompts: none}}}}":                      {{"prompts", "listed", "none"}},
		"agents: {robot: {connectors: {c: {tools: [a], prompts: listed, resources: listed}}}}": {{"resources", "listed_and_templates", "listed"}},
	} {
		file, err := Read([]byte(text), Sources{})
		if err != nil {
			t.Fatal(err)
		}
		steps, err := Plan(t.Context(), nil, file, state, Options{})
		if err != nil {
			t.Fatal(err)
		}
		var fields []Field
		for _, step := range steps {
			fields = append(fields, step.Fields...)
		}
		if diff := cmp.Diff(want, fields); diff != "" {
			t.Errorf("%s: %s", text, diff)
		}
	}
}

// A file that narrows a grant also removes tools with ends of their own, and the plan shows each end that it removes.
func TestGrants_EndsThatTheFileLacksAreRemoved(t *testing.T) {
	t.Parallel()
	friday := time.Date(2027, 1, 1, 12, 0, 0, 0, time.UTC)
	grant := granted(false, []string{"a"}, "none", "none")
	grant.Ends = client.GrantEnds{Until: &friday, Tools: []client.ToolEnd{{Tool: "delete"}}}
	state := State{
		Connectors: map[string]client.Connector{"c": {Slug: "c"}}, Agents: map[string]client.Agent{"robot": {Slug: "robot"}},
		Grants: map[string]map[string]client.AgentGrant{"robot": {"c": grant}},
	}
	live := map[string]any{"until": "2027-01-01T12:00:00Z", "tools": []any{map[string]any{"tool": "delete", "until": nil}}}
	for text, want := range map[string][]Field{
		"agents: {robot: {connectors: {c: [a]}}}": {{"ends", live, map[string]any{}}},
		`agents: {robot: {connectors: {c: {tools: [a], ends: {until: "2027-01-01T12:00:00Z"}}}}}`: {
			{"ends", live, map[string]any{"until": "2027-01-01T12:00:00Z"}},
		},
		`agents: {robot: {connectors: {c: {tools: [a], ends: {until: "2027-01-01T12:00:00Z", tools: [{tool: delete, until: null}]}}}}}`: nil,
	} {
		file, err := Read([]byte(text), Sources{})
		if err != nil {
			t.Fatal(err)
		}
		steps, err := Plan(t.Context(), nil, file, state, Options{})
		if err != nil {
			t.Fatal(err)
		}
		var fields []Field
		for _, step := range steps {
			fields = append(fields, step.Fields...)
		}
		if diff := cmp.Diff(want, fields); diff != "" {
			t.Errorf("%s: %s", text, diff)
		}
	}
}

func TestGrants_ShapingIsComparedIfTheFileHasIt(t *testing.T) {
	t.Parallel()
	grant := granted(true, nil, "listed", "listed_and_templates")
	grant.Shaping = []client.ToolShaping{{Tool: "a", Budget: new(int64(500))}, {Tool: "b", Fields: new(".id")}}
	state := State{
		Connectors: map[string]client.Connector{"c": {Slug: "c"}}, Agents: map[string]client.Agent{"robot": {Slug: "robot"}},
		Grants: map[string]map[string]client.AgentGrant{"robot": {"c": grant}},
	}
	for shaping, want := range map[string]map[string][]Field{
		"": {},
		", shaping: {a: {budget: 500}, b: {fields: .id}}":                 {},
		", shaping: {a: {budget: 900}, b: {fields: .id}, d: {budget: 7}}": {"a": {{"budget", 500.0, 900.0}}, "d": {{"budget", nil, 7.0}}},
		", shaping: {a: {budget: 500, fields: .x}}":                       {"a": {{"fields", nil, ".x"}}, "b": {{"fields", ".id", ""}}},
		", shaping: {}": {"a": {{"budget", 500.0, 0.0}}, "b": {{"fields", ".id", ""}}},
	} {
		file, err := Read([]byte("agents: {robot: {connectors: {c: {tools: all"+shaping+"}}}}"), Sources{})
		if err != nil {
			t.Fatal(err)
		}
		steps, err := Plan(t.Context(), nil, file, state, Options{})
		if err != nil {
			t.Fatal(err)
		}
		got := map[string][]Field{}
		for _, step := range steps {
			got[strings.TrimPrefix(step.Name, "robot c ")] = step.Fields
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", shaping, diff)
		}
	}
	if _, err := Read([]byte("agents: {robot: {connectors: {c: {tools: all, shaping: {a: {tokens: 5}}}}}}"), Sources{}); err == nil {
		t.Error("an unknown field is read")
	}
}

func TestConnectors_WrittenTagsDoNotDiffer(t *testing.T) {
	t.Parallel()
	state := State{Connectors: map[string]client.Connector{"c": {Slug: "c", Name: "C", Enabled: true, Auth: client.Auth{Type: "none"}, Tags: []string{"beta", "crm"}}}}
	var text strings.Builder
	if err := Write(&text, state); err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string][]Field{
		text.String():                          nil,
		"connectors: {c: {}}":                  nil,
		"connectors: {c: {tags: [crm, beta]}}": nil,
		"connectors: {c: {tags: [crm]}}":       {{"tags", []any{"beta", "crm"}, []any{"crm"}}},
		"connectors: {c: {tags: []}}":          {{"tags", []any{"beta", "crm"}, []any{}}},
	} {
		read, err := Read([]byte(file), Sources{})
		if err != nil {
			t.Fatal(err)
		}
		steps, err := Plan(t.Context(), nil, read, state, Options{})
		if err != nil {
			t.Fatal(err)
		}
		var fields []Field
		for _, step := range steps {
			fields = append(fields, step.Fields...)
		}
		if diff := cmp.Diff(want, fields); diff != "" {
			t.Errorf("%s: %s", file, diff)
		}
	}
}
