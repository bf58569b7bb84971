package connectors_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
)

func TestToolPatch_ChangesOnlyGivenFields(t *testing.T) {
	t.Parallel()
	before := connectors.Curation{Enabled: true, Alias: "find", AgentText: "Finds.", Tags: []string{"a", "b"}}
	for name, c := range map[string]struct {
		patch connectors.ToolPatch
		want  connectors.Curation
	}{
		"nothing":  {connectors.ToolPatch{}, before},
		"disabled": {connectors.ToolPatch{Enabled: new(false)}, connectors.Curation{Alias: "find", AgentText: "Finds.", Tags: []string{"a", "b"}}},
		"renamed":  {connectors.ToolPatch{Alias: new(" look.up ")}, connectors.Curation{Enabled: true, Alias: "look.up", AgentText: "Finds.", Tags: []string{"a", "b"}}},
		"its own name is no other one": {
			connectors.ToolPatch{Tool: "search", Alias: new("search")}, connectors.Curation{Enabled: true, AgentText: "Finds.", Tags: []string{"a", "b"}},
		},
		"the server's own again": {connectors.ToolPatch{Alias: new(""), AgentText: new("")}, connectors.Curation{Enabled: true, Tags: []string{"a", "b"}}},
		"tags, added and removed": {
			connectors.ToolPatch{AddTags: []string{" Größe ", "a", ""}, RemoveTags: []string{"B"}},
			connectors.Curation{Enabled: true, Alias: "find", AgentText: "Finds.", Tags: []string{"a", "größe"}},
		},
		"other tags": {connectors.ToolPatch{Tags: &[]string{"z", "y", "z"}}, connectors.Curation{Enabled: true, Alias: "find", AgentText: "Finds.", Tags: []string{"y", "z"}}},
	} {
		got, err := c.patch.Apply(before)
		if diff := cmp.Diff(c.want, got); diff != "" || err != nil {
			t.Errorf("%s: %v\n%s", name, err, diff)
		}
	}
}

func TestToolPatch_InvalidFields(t *testing.T) {
	t.Parallel()
	many := make([]string, connectors.MaxTags+1)
	for i := range many {
		many[i] = "t" + string(rune('a'+i))
	}
	for name, c := range map[string]struct {
		patch connectors.ToolPatch
		field string
	}{
		"a blank":            {connectors.ToolPatch{Alias: new("look up")}, "alias"},
		"an accent":          {connectors.ToolPatch{Alias: new("grün")}, "alias"},
		"too long a name":    {connectors.ToolPatch{Alias: new(strings.Repeat("x", 129))}, "alias"},
		"too long a text":    {connectors.ToolPatch{AgentText: new(strings.Repeat("é", 4001))}, "agent_description"},
		"a control":          {connectors.ToolPatch{AgentText: new("a\x00b")}, "agent_description"},
		"what nobody sees":   {connectors.ToolPatch{AgentText: new("a\u202eb")}, "agent_description"},
		"a tag of two words": {connectors.ToolPatch{AddTags: []string{"two words"}}, "tags"},
		"too long a tag":     {connectors.ToolPatch{AddTags: []string{strings.Repeat("x", 33)}}, "tags"},
		"too many tags":      {connectors.ToolPatch{Tags: &many}, "tags"},
	} {
		_, err := c.patch.Apply(connectors.Curation{})
		f := fault.As(err)
		if f == nil || f.Kind != fault.Invalid || len(f.Fields) != 1 || f.Fields[0].Location != c.field {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestCheckNames_RefusesConflict(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		tools   []connectors.ToolNames
		renamed []string
		refused bool
	}{
		"another's own name":       {[]connectors.ToolNames{{Name: "a", Alias: "b"}, {Name: "b"}}, []string{"a"}, true},
		"another's alias":          {[]connectors.ToolNames{{Name: "a", Alias: "x"}, {Name: "b", Alias: "x"}}, []string{"b"}, true},
		"back to a name in use":    {[]connectors.ToolNames{{Name: "a", Alias: "b"}, {Name: "b"}}, []string{"b"}, true},
		"they change names":        {[]connectors.ToolNames{{Name: "a", Alias: "b"}, {Name: "b", Alias: "a"}}, []string{"a", "b"}, false},
		"the name of a gone one":   {[]connectors.ToolNames{{Name: "a", Alias: "b"}, {Name: "b", Removed: true}}, []string{"a"}, false},
		"it was so before":         {[]connectors.ToolNames{{Name: "a", Alias: "b"}, {Name: "b"}, {Name: "c", Alias: "d"}}, []string{"c"}, false},
		"nobody has another's now": {[]connectors.ToolNames{{Name: "a", Alias: "x"}, {Name: "b"}}, []string{"a"}, false},
	} {
		if err := connectors.CheckNames(c.tools, c.renamed); fault.Is(err, fault.Conflict) != c.refused || (err == nil) == c.refused {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestAgentNames_AliasWins(t *testing.T) {
	t.Parallel()
	got := connectors.AgentNames([]connectors.ToolNames{{Name: "delete_all", Alias: "tidy"}, {Name: "tidy"}, {Name: "gone", Alias: "other", Removed: true}, {Name: "other"}})
	want := map[string]string{"delete_all": "tidy", "tidy": got["tidy"], "gone": "other", "other": "other"}
	if diff := cmp.Diff(want, got); diff != "" || got["tidy"] == "tidy" || !strings.HasPrefix(got["tidy"], "tidy_") {
		t.Errorf("%v\n%s", got, diff)
	}
	if tool := (connectors.Tool{Definition: connectors.Definition{Name: "tidy"}, Shadowed: true}); tool.AgentName() != got["tidy"] {
		t.Errorf("the tool by itself is %q, among the others %q", tool.AgentName(), got["tidy"])
	}
}
