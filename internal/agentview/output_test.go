package agentview

import (
	"encoding/json"
	"testing"
)

func TestOutputMismatch_NamesTheField(t *testing.T) {
	t.Parallel()
	tool := &Tool{OutputSchema: json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"},"at":{"$ref":"https://example.com/x"}},"required":["n"]}`)}
	plain := &Tool{OutputSchema: json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}`)}
	for name, tc := range map[string]struct {
		tool       *Tool
		structured string
		fits       bool // as far as it can be checked
		isChecked  bool
	}{
		"as promised":                 {plain, `{"n":1}`, true, true},
		"of another type":             {plain, `{"n":"1"}`, false, false},
		"without what must be":        {plain, `{}`, false, false},
		"no object":                   {plain, `[1]`, false, false},
		"none":                        {plain, ``, false, false},
		"nothing promised":            {&Tool{}, ``, true, false},
		"beside one out of sight":     {tool, `{"n":"1","at":1}`, false, false},
		"a promise out of sight":      {tool, `{"n":1,"at":1}`, true, false},
		"a promise that is no schema": {&Tool{OutputSchema: json.RawMessage(`5`)}, `{}`, true, false},
	} {
		if said := tc.tool.OutputMismatch(t.Context(), json.RawMessage(tc.structured)); (said == "") != tc.fits {
			t.Errorf("%s: %q", name, said)
		}
		if got := tc.tool.FitsOutput(t.Context(), json.RawMessage(tc.structured)); got != tc.isChecked {
			t.Errorf("%s: fits wholly: %v", name, got)
		}
	}
	if said := plain.OutputMismatch(t.Context(), json.RawMessage(`{"n":"1"}`)); said != `The field "n" must be an integer.` {
		t.Errorf("it says %q", said)
	}
}
