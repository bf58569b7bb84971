package mcp

import (
	"patchbay/internal/mcp/ajv"
	"patchbay/internal/mcp/wire"
)

var itemKinds = map[ListKind]wire.ItemKind{
	Prompts: wire.PromptItem, Resources: wire.ResourceItem, ResourceTemplates: wire.TemplateItem,
}

// NormalizeItem returns a list entry (not a tool) without optional members that are null, as every official SDK
// accepts it. defect is a sentence that says why the SDKs refuse the entry, and with it the whole list; empty:
// they accept it.
func NormalizeItem(kind ListKind, raw []byte) (conformed []byte, defect string) {
	shape := wire.CheckItem(itemKinds[kind], raw)
	if shape.Defect != "" {
		return nil, shape.Defect
	}
	return shape.Apply(raw), ""
}

// NormalizedTool is a tool as every official SDK accepts it.
type NormalizedTool struct {
	Raw []byte // unchanged except for the edits of wire.CheckItem
	// Legacy is Raw for clients of revisions before 2026-07-28. It omits an output schema that is not of an
	// object, which those revisions forbid, or that may not compile in the TypeScript SDK v1.
	Legacy []byte
	Defect string // why the SDKs refuse the tool, as a sentence; empty: they accept it. The other fields are nil if it is set.
}

// NormalizeTool returns a tool as every official SDK accepts it.
func NormalizeTool(raw []byte) NormalizedTool {
	shape := wire.CheckItem(wire.ToolItem, raw)
	if shape.Defect != "" {
		return NormalizedTool{Defect: shape.Defect}
	}
	t := NormalizedTool{Raw: shape.Apply(raw)}
	t.Legacy = t.Raw
	if output := readObject(t.Raw).get("outputSchema"); output != nil && !ajv.Compiles(output) {
		t.Legacy = wire.CheckItem(wire.ToolItem, t.Raw, "outputSchema").Apply(t.Raw)
	}
	return t
}
