package access

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"strings"
)

// Misfit says in one sentence why a structured result is not what the tool's output schema promises; empty: it is, or nothing is
// promised that can be checked. It is for people who look at a result: no result is refused by it. It takes as little as [Tool.Validate].
func (t *Tool) Misfit(ctx context.Context, structured json.RawMessage) string {
	if t.OutputSchema == nil {
		return ""
	}
	structured = bytes.TrimSpace(structured)
	if len(structured) == 0 || !json.Valid(structured) {
		return "The tool promises structured content, and sent none."
	}
	s := compile(t.OutputSchema)
	if s.plan == nil {
		return ""
	}
	r := newRun(ctx, structured)
	if r.judge(s.plan) != refused {
		return ""
	}
	said := cmp.Or(r.explain(s.plan), "The structured content does not fit the output schema.")
	for _, word := range [][2]string{
		{"The arguments hold", "The structured content holds"}, {"The object of arguments", "The structured content"}, {"The argument ", "The field "},
	} {
		said = strings.Replace(said, word[0], word[1], 1)
	}
	return said
}
