package access

import (
	"bytes"
	"context"
	"encoding/json"

	"patchbay/internal/connectors"
)

// ToolOf is a listed tool with this definition.
func ToolOf(raw []byte) *Tool {
	d := newDefinition(connectors.HashDefinition(raw), raw)
	return &Tool{Name: "t", Exposed: "mcp_c__t", Raw: raw, InputSchema: d.inputSchema, def: d, Reach: &Reach{}}
}

// check holds arguments against the schema alone.
func (s *schema) check(ctx context.Context, arguments json.RawMessage) error {
	arguments = bytes.TrimSpace(arguments)
	if len(arguments) > 0 && !json.Valid(arguments) {
		return unfit("The arguments are not valid JSON.")
	}
	return s.checkRead(ctx, arguments)
}

// checkRead is for arguments that are valid JSON, or nothing.
func (s *schema) checkRead(ctx context.Context, arguments json.RawMessage) error {
	_, err := s.judge(ctx, arguments)
	return err
}
