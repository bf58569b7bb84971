package access

import (
	"encoding/json"
	"strings"
)

// Misfit says in one sentence why a structured result is not what the tool's output schema promises; empty: it is, or nothing is
// promised that can be checked. It is for people who look at a result: no result is refused by it.
func (t *Tool) Misfit(structured json.RawMessage) string {
	if t.OutputSchema == nil {
		return ""
	}
	value, err := decoded(structured)
	if err != nil {
		return "The tool promises structured content, and sent none."
	}
	s := compile(t.OutputSchema)
	if s.resolved == nil || s.cost.tooMuch(value) || s.resolved.Validate(value) == nil {
		return ""
	}
	said := explain(s.resolved.Schema(), value)
	if said == "" {
		return "The structured content does not fit the output schema."
	}
	for _, word := range [][2]string{
		{"The object of arguments", "The structured content"}, {"The argument ", "The field "},
	} {
		said = strings.Replace(said, word[0], word[1], 1)
	}
	return said
}
