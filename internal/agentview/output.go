package agentview

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"strings"
)

// OutputCheck is the verdict about a structured result. The zero value: it was not checked, or not in full.
type OutputCheck struct {
	Checked bool
	Problem string // why it does not fit the schema, one sentence; empty: it fits
}

// Fits reports whether the whole result was checked and fits.
func (c OutputCheck) Fits() bool { return c.Checked && c.Problem == "" }

// CheckOutput checks the structured content of a successful result against the tool's output schema. structured is
// empty or valid JSON. A missing one does not fit. Time and memory are bounded as in [Tool.Validate], and the compiled
// schema is cached likewise. A tool without an output schema is not checked.
func (t *Tool) CheckOutput(ctx context.Context, structured json.RawMessage) OutputCheck {
	if t.OutputSchema == nil {
		return OutputCheck{}
	}
	structured = bytes.TrimSpace(structured)
	if len(structured) == 0 {
		return OutputCheck{Checked: true, Problem: "The declared structured content is missing."}
	}
	s, spent := t.compiledOutputSchema()
	if s.plan == nil {
		return OutputCheck{}
	}
	r := newValidator(ctx, structured)
	r.budget -= spent
	if s.needsUniqueNames { // parsers disagree on which of two equal members counts
		switch r.findDuplicateMembers() {
		case valid:
			return OutputCheck{Checked: true, Problem: "Structured content has a duplicate key."}
		case undecided:
			return OutputCheck{}
		}
	}
	switch r.validate(s.plan) {
	case valid:
		return OutputCheck{Checked: true}
	case invalid:
		return OutputCheck{Checked: true, Problem: r.explainOutput(s.plan)}
	default:
		return OutputCheck{}
	}
}

// compiledOutputSchema returns the compiled output schema, and the work to deduct from the check's budget because it
// is compiled for this check alone.
func (t *Tool) compiledOutputSchema() (s *compiledSchema, spent int) {
	if t.def == nil {
		s = compileSchema(t.OutputSchema)
		return s, 2 * s.compileWork // a unit of compiling takes longer: see BenchmarkHostileSchemas
	}
	d := t.def.originalDefinition() // an admin's texts do not change the schema
	return d.schemas.get(d, outputPart), 0
}

func (r *validator) explainOutput(p *plan) string {
	message := cmp.Or(r.explainInvalid(p), "Structured content doesn't match the output schema.")
	for _, word := range [][2]string{
		{"The arguments hold", "The structured content holds"}, {"The object of arguments", "The structured content"}, {"The argument ", "The field "},
	} {
		message = strings.Replace(message, word[0], word[1], 1)
	}
	return message
}
