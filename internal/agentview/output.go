package agentview

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"strings"
)

// OutputMismatch says in one sentence how a structured result violates the tool's output schema; empty if it
// fits or cannot be checked. It informs people; no result is rejected by it. Its cost is bounded as in
// [Tool.Validate].
func (t *Tool) OutputMismatch(ctx context.Context, structured json.RawMessage) string {
	if t.OutputSchema == nil {
		return ""
	}
	structured = bytes.TrimSpace(structured)
	if len(structured) == 0 || !json.Valid(structured) {
		return "The tool promises structured content, and sent none."
	}
	s := compileSchema(t.OutputSchema)
	if s.plan == nil {
		return ""
	}
	r := newValidator(ctx, structured)
	r.budget -= 2 * s.compileWork // a unit of compiling takes longer: see BenchmarkHostileSchemas
	if r.validate(s.plan) != invalid {
		return ""
	}
	message := cmp.Or(r.explainInvalid(s.plan), "The structured content does not fit the output schema.")
	for _, word := range [][2]string{
		{"The arguments hold", "The structured content holds"}, {"The object of arguments", "The structured content"}, {"The argument ", "The field "},
	} {
		message = strings.Replace(message, word[0], word[1], 1)
	}
	return message
}
