package access

import "patchbay/internal/connectors"

// ToolOf is a listed tool with this definition.
func ToolOf(raw []byte) *Tool {
	d := newDefinition(connectors.HashDefinition(raw), raw)
	return &Tool{Name: "t", Exposed: "mcp_c__t", Raw: raw, InputSchema: d.inputSchema, def: d, Reach: &Reach{}}
}
