package agentview

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestValidate_RefusesWhenSecondPassIsTooCostly(t *testing.T) {
	t.Parallel()
	s := compileSchema(json.RawMessage(`{"type":"object","properties":{"a":{"items":{"type":"integer"}}}}`))
	for name, arguments := range map[string]string{
		"without null":    `{"a":[` + strings.Repeat("1,", 250_000) + `"x"]}`,
		"with null":       `{"a":[` + strings.Repeat("1,", 250_000) + `"x"],"b":null}`,
		"null as the way": `{"a":[` + strings.Repeat("1,", 250_000) + `null]}`,
	} {
		if v, err := s.validate(t.Context(), json.RawMessage(arguments)); v != invalid || err == nil {
			t.Errorf("%s: verdict %v, %v", name, v, err)
		}
	}
}
