package api

import (
	"context"
	"net/http"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
)

// ToolPatch changes a tool's curation. An absent field keeps its value.
type ToolPatch struct {
	Enabled    *bool     `json:"enabled,omitempty" doc:"Whether agents can see and call it."`
	Alias      *string   `json:"alias,omitempty" doc:"Name for agents, before the connector's prefix. Empty: the server's. 1 to 128 of A-Z a-z 0-9 _ - ., unique in the connector: otherwise 409."`
	AgentText  *string   `json:"agent_description,omitempty" doc:"Description for agents, at most 4000 characters. Empty: the server's."`
	Tags       *[]string `json:"tags,omitempty" doc:"Replaces existing tags. At most 20, of lowercase letters, digits, - and _."`
	AddTags    []string  `json:"add_tags,omitempty" nullable:"false"`
	RemoveTags []string  `json:"remove_tags,omitempty" nullable:"false"`

	CallsPerMinute *int `json:"calls_per_minute,omitempty" minimum:"0" maximum:"1000000" doc:"For all agents together. 0: no limit."`
	CallsPerDay    *int `json:"calls_per_day,omitempty" minimum:"0" maximum:"1000000000" doc:"Likewise, per UTC day."`
}

func (p ToolPatch) forTool(tool string) connectors.ToolPatch {
	return connectors.ToolPatch{
		Tool: tool, Enabled: p.Enabled, Alias: p.Alias, AgentText: p.AgentText, Tags: p.Tags, AddTags: p.AddTags, RemoveTags: p.RemoveTags,
		CallsPerMinute: p.CallsPerMinute, CallsPerDay: p.CallsPerDay,
	}
}

// namedToolPatch is a patch with the tool's name.
type namedToolPatch struct {
	Name string `json:"name" minLength:"1" doc:"The server's name for it."`
	ToolPatch
}

// toolPatches are changes of several tools at once.
type toolPatches struct {
	Tools []namedToolPatch `json:"tools" nullable:"false" minItems:"1" maxItems:"2000"`
}

// curatedJSON counts the changed tools.
type curatedJSON struct {
	Changed int `json:"changed"`
}

type patchToolInput struct {
	ToolPath
	JSON requestBody[ToolPatch]
}

type patchToolsInput struct {
	ConnectorPath
	JSON requestBody[toolPatches]
}

func (h *Handler) mountToolCuration() {
	const tag = "Tools"
	registerOperation(h, operation{
		method: http.MethodPatch, path: "/api/v1/connectors/{id}/tools/{name}", id: "updateTool", tag: tag,
		summary: "Update a tool for agents: enable, disable, rename, describe, tag or limit it", permission: connectors.PermManage,
		description: "The server still gets its own tool name, and its definition is still reviewed.",
	}, h.updateTool)
	registerOperation(h, operation{
		method: http.MethodPatch, path: "/api/v1/connectors/{id}/tools", id: "updateTools", tag: tag,
		summary: "Update several tools of a connector, all or none", permission: connectors.PermManage,
	}, h.updateTools)
}

func (h *Handler) updateTool(ctx context.Context, actor auth.Actor, in *patchToolInput) (*response[toolJSON], error) {
	tenant := h.store.Tenant(actor.Tenant.ID)
	c, err := tenant.Connectors().Get(ctx, in.ref())
	if err != nil {
		return nil, err
	}
	if _, err := tenant.Tools().Get(ctx, c.ID, in.Tool); err != nil {
		return nil, err
	}
	patch, err := in.JSON.readJSON()
	if err != nil {
		return nil, err
	}
	if _, err := h.registry.CurateTools(ctx, actor, in.ref(), []connectors.ToolPatch{patch.forTool(in.Tool)}); err != nil {
		return nil, err
	}
	tool, err := tenant.Tools().Get(ctx, c.ID, in.Tool)
	if err != nil {
		return nil, err
	}
	return &response[toolJSON]{Body: viewTool(tool, exposedNameFor(tool))}, nil
}

func (h *Handler) updateTools(ctx context.Context, actor auth.Actor, in *patchToolsInput) (*response[curatedJSON], error) {
	if _, err := h.store.Tenant(actor.Tenant.ID).Connectors().Get(ctx, in.ref()); err != nil {
		return nil, err
	}
	doc, err := in.JSON.readJSON()
	if err != nil {
		return nil, err
	}
	patches := make([]connectors.ToolPatch, len(doc.Tools))
	for i, t := range doc.Tools {
		patches[i] = t.forTool(t.Name)
	}
	changed, err := h.registry.CurateTools(ctx, actor, in.ref(), patches)
	if err != nil {
		return nil, err
	}
	return &response[curatedJSON]{Body: curatedJSON{Changed: changed}}, nil
}
