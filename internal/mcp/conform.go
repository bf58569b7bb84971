package mcp

import (
	"patchbay/internal/mcp/ajv"
	"patchbay/internal/mcp/wire"
)

// itemKinds are the entries of the lists.
var itemKinds = map[ListKind]wire.ItemKind{
	Prompts: wire.PromptItem, Resources: wire.ResourceItem, ResourceTemplates: wire.TemplateItem,
}

// Conform returns an entry of a list, other than that of tools, as every official SDK reads it: as it came, but without optional members
// that are null. defect is a sentence that says why the SDKs refuse the entry, and with it the whole list; empty: they do not.
func Conform(kind ListKind, raw []byte) (conformed []byte, defect string) {
	shape := wire.CheckItem(itemKinds[kind], raw)
	if shape.Defect != "" {
		return nil, shape.Defect
	}
	return shape.Apply(raw), ""
}

// ConformedTool is a tool as every official SDK reads it.
type ConformedTool struct {
	Raw []byte // as it came, but for what wire.CheckItem edits
	// Legacy is the same for clients of the revisions before 2026-07-28. It has no output schema where that describes no object, which
	// those revisions forbid, or where the TypeScript SDK v1, which compiles it, may fail to.
	Legacy []byte
	Defect string // why the SDKs refuse it, a sentence, where they do; the other fields are nil then
}

// ConformTool returns a tool as every official SDK reads it.
func ConformTool(raw []byte) ConformedTool {
	shape := wire.CheckItem(wire.ToolItem, raw)
	if shape.Defect != "" {
		return ConformedTool{Defect: shape.Defect}
	}
	t := ConformedTool{Raw: shape.Apply(raw)}
	t.Legacy = t.Raw
	if output := members(t.Raw).get("outputSchema"); output != nil && !ajv.Compiles(output) {
		t.Legacy = wire.CheckItem(wire.ToolItem, t.Raw, "outputSchema").Apply(t.Raw)
	}
	return t
}
