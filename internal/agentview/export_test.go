package agentview

import (
	"bytes"
	"context"
	"encoding/json"

	"patchbay/internal/connectors"
)

// CutBinding is cutBinding.
var CutBinding = cutBinding

// IndexBuilds is indexBuilds.
var IndexBuilds = indexBuilds

// NewTestTool returns a listed tool with this definition.
func NewTestTool(raw []byte) *Tool {
	d := newDefinition(connectors.HashDefinition(raw), raw)
	return &Tool{Name: "t", Exposed: "mcp_c__t", Raw: raw, InputSchema: d.inputSchema, def: d, Connector: &ConnectorView{}}
}

func (s *compiledSchema) check(ctx context.Context, arguments json.RawMessage) error {
	arguments = bytes.TrimSpace(arguments)
	if len(arguments) > 0 && !json.Valid(arguments) {
		return newArgumentsError("The arguments aren't valid JSON.")
	}
	return s.checkRead(ctx, arguments)
}

// checkRead is check for arguments that are valid JSON, or empty.
func (s *compiledSchema) checkRead(ctx context.Context, arguments json.RawMessage) error {
	_, err := s.validate(ctx, arguments)
	return err
}
