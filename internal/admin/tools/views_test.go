package tools

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"patchbay/internal/admin/shell"
	"patchbay/internal/connectors"
	"patchbay/web/templates"
)

const issueTool = `{"name":"create_issue","annotations":{"title":"Create an issue","destructiveHint":true,"openWorldHint":true},
  "description":"Creates an issue.\u003cb\u003e","inputSchema":{"type":"object","required":["title"],"properties":{
    "title":{"type":"string","description":"In a few words","maxLength":200},
    "priority":{"type":["integer","null"],"minimum":0,"maximum":9007199254740993,"default":2},
    "state":{"enum":["open",1,null]},
    "filter":{"type":"object","properties":{"labels":{"type":"array","items":{"type":"string"}}}},
    "steps":{"type":"array","items":{"type":"object","properties":{"text":{"type":"string"}}}},
    "odd":true,"worse":{"type":7,"description":9,"required":"x","properties":[]}}}}`

func TestToolViewReadsTheDefinition(t *testing.T) {
	t.Parallel()
	v := DefinitionView(t.Context(), connectors.Definition{Name: "create_issue", Raw: []byte(issueTool)}, ListDetail)
	if v.Title != "Create an issue" || v.Description != "Creates an issue.<b>" {
		t.Errorf("title %q, description %q", v.Title, v.Description)
	}
	var badges []string
	for _, b := range v.Badges {
		badges = append(badges, b.Text)
	}
	if diff := cmp.Diff([]string{"destructive", "open world"}, badges); diff != "" {
		t.Error(diff)
	}
	want := []templates.Param{
		{Name: "title", Type: "string", Required: true, Description: "In a few words", Notes: []string{"at most 200 characters"}},
		{Name: "priority", Type: "integer or null", Notes: []string{"default 2", "0–9007199254740993"}},
		{Name: "state", Notes: []string{"one of open, 1, null"}},
		{Name: "filter", Type: "object"},
		{Name: "filter.labels", Type: "array of string"},
		{Name: "steps", Type: "array of object"},
		{Name: "steps[].text", Type: "string"},
		{Name: "odd"},
		{Name: "worse"},
	}
	if diff := cmp.Diff(want, v.Params); diff != "" {
		t.Error(diff)
	}
	if !strings.Contains(v.Raw, `"maximum": 9007199254740993`) || strings.Index(v.Raw, "title") > strings.Index(v.Raw, "priority") {
		t.Errorf("numbers or order changed:\n%s", v.Raw)
	}
}

func TestToolViewStandsAnyDefinition(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat(`{"type":"object","properties":{"a":`, 50) + `{}` + strings.Repeat(`}}`, 50)
	wide := `{"properties":{` + strings.TrimSuffix(strings.Repeat(`"p":{},`, 5000), ",") + `}}`
	for _, raw := range []string{
		``, `null`, `[]`, `{}`, `{"inputSchema":7}`, `{"title":1,"description":[],"annotations":"x"}`, "{\"name\":\"\xff\"}",
		`{"inputSchema":` + deep + `}`, `{"inputSchema":` + wide + `}`,
	} {
		v := DefinitionView(t.Context(), connectors.Definition{Name: "\xff", Raw: []byte(raw)}, pageDetail)
		if len(v.Params) > maxParams || v.Name != "\uFFFD" {
			t.Errorf("%.40q: %d parameters, name %q", raw, len(v.Params), v.Name)
		}
	}
}

// A definition of 8 MiB may become a hundred times as large when escaped or indented.
func TestHugeDefinitionsMakeNoHugePages(t *testing.T) {
	t.Parallel()
	quotes := strings.Repeat(`\"`, 4<<20)
	name := strings.Repeat("n", 1<<20)
	for what, raw := range map[string]string{
		"a long text":    `{"title":"` + quotes + `","description":"` + quotes + `"}`,
		"deep":           `{"x":` + strings.Repeat("[", 490) + strings.Repeat("0,", 4<<20) + "0" + strings.Repeat("]", 490) + `}`,
		"deep and small": strings.Repeat("[", 490) + strings.Repeat("0,", 5000) + "0" + strings.Repeat("]", 490),
		"long parameters": `{"inputSchema":{"required":["` + name + `"],"properties":{"` + name + `":{"type":"` + name + `","description":"` + name +
			`","default":"` + name + `"}}}}`,
	} {
		v := DefinitionView(t.Context(), connectors.Definition{Name: "x", Raw: []byte(raw)}, ListDetail)
		size := len(v.Title) + len(v.Description) + len(v.Raw)
		for _, p := range v.Params {
			size += len(p.Name) + len(p.Type) + len(p.Description) + len(strings.Join(p.Notes, ""))
		}
		if size > 5*shell.MaxListJSON {
			t.Errorf("%s: %d bytes are shown", what, size)
		}
		if len(raw) > shell.MaxListJSON && !strings.Contains(v.Raw, "use the API to get everything") {
			t.Errorf("%s: nothing says that the definition is cut", what)
		}
	}
}
