package agentview

import (
	"bytes"
	"context"
	"encoding/json"
)

// FitsOutput reports whether a structured result was checked against the whole output schema, and fits.
// [Tool.OutputMismatch] is empty also for what it cannot check. Its cost is bounded likewise.
func (t *Tool) FitsOutput(ctx context.Context, structured json.RawMessage) bool {
	structured = bytes.TrimSpace(structured)
	if t.OutputSchema == nil || len(structured) == 0 || !json.Valid(structured) {
		return false
	}
	s, r := compileSchema(t.OutputSchema), newValidator(ctx, structured)
	return s.plan != nil && r.validate(s.plan) == valid
}
