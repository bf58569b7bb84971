package connectors_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"patchbay/internal/connectors"
)

func TestDecodeTool_KeepsSpelling(t *testing.T) {
	t.Parallel()
	v := connectors.DecodeTool([]byte(`{"name":"t","Title":"not the title","description":"d\u003c","inputSchema":{"z":9007199254740993, "a":1.0},` +
		`"outputSchema":{"b":1},"annotations":{"title":"From hints","readOnlyHint":true,"destructiveHint":false},"icons":[{"src":"x"}],"_meta":{"k":1e2}}`))
	yes, no := true, false
	want := connectors.ToolView{
		Name: "t", Description: "d<",
		InputSchema: []byte(`{"z":9007199254740993, "a":1.0}`), OutputSchema: []byte(`{"b":1}`),
		Annotations: []byte(`{"title":"From hints","readOnlyHint":true,"destructiveHint":false}`),
		Icons:       []byte(`[{"src":"x"}]`), Meta: []byte(`{"k":1e2}`),
		Hints: connectors.Hints{Title: "From hints", ReadOnly: &yes, Destructive: &no},
	}
	if diff := cmp.Diff(want, v); diff != "" {
		t.Error(diff)
	}
	if v.DisplayTitle() != "From hints" {
		t.Errorf("display title = %q", v.DisplayTitle())
	}
}

func TestDecodeTool_DropsWrongTypesWithNote(t *testing.T) {
	t.Parallel()
	v := connectors.DecodeTool([]byte(`{"name":"t","title":7,"description":["d"],"inputSchema":{},"outputSchema":"s","annotations":{"readOnlyHint":"yes"},"icons":{},"_meta":null}`))
	want := connectors.ToolView{
		Name: "t", InputSchema: []byte(`{}`), Annotations: []byte(`{"readOnlyHint":"yes"}`),
		Notes: []string{
			"title ignored: not a string.",
			"description ignored: not a string.",
			"outputSchema ignored: not an object.",
			"icons ignored: not an array.",
			"annotations.readOnlyHint ignored: not true or false.",
		},
	}
	if diff := cmp.Diff(want, v); diff != "" {
		t.Error(diff)
	}
}

// FuzzDecodeTool checks that the decoded parts of a tool are objects, or absent.
func FuzzDecodeTool(f *testing.F) {
	f.Add([]byte(`{"name":"t","inputSchema":{"a":1}}`))
	f.Add([]byte(`[]`))
	f.Add([]byte(`{"annotations":{"title":null},"icons":[`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		v := connectors.DecodeTool(raw)
		for _, part := range [][]byte{v.InputSchema, v.OutputSchema, v.Annotations, v.Meta} {
			if part != nil && part[0] != '{' {
				t.Errorf("%q gives %q", raw, part)
			}
		}
	})
}
