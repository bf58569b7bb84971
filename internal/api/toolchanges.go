package api

import (
	"context"
	"encoding/hex"
	"net/http"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/manage"
	"patchbay/internal/store"
)

type toolChangesInput struct {
	State     string `query:"state" enum:"waiting,accepted,rejected,kept,automatic,superseded,any" default:"waiting" doc:"Default: changes that wait for a decision."`
	Connector string `query:"connector" doc:"The connector's id or slug."`
	Paging
}

// ToolPath is the path of a connector's tool.
type ToolPath struct {
	ConnectorPath
	Tool string `path:"name" doc:"The server's name for it."`
}

type toolHistoryInput struct {
	ToolPath
	Paging
}

// toolVerdictJSON names the definition that a person decides about.
type toolVerdictJSON struct {
	Hash *string `json:"hash,omitempty" pattern:"^[0-9a-f]{64}$" doc:"Hash of the reviewed definition: 409 if the server has changed the tool since. Absent: decides the current one."`
}

type toolVerdictInput struct {
	ToolPath
	JSON optionalBody[toolVerdictJSON]
}

func (h *Handler) mountToolChanges() {
	const tag = "Tool changes"
	registerOperation(h, operation{
		method: http.MethodGet, path: "/api/v1/tool_changes", id: "listToolChanges", tag: tag,
		summary: "List changes of tools, skills and server instructions, newest first", permission: connectors.PermRead,
	}, h.listToolChanges)
	registerOperation(h, operation{
		method: http.MethodPost, path: "/api/v1/tool_changes/accept_cosmetic", id: "acceptCosmeticToolChanges", tag: tag,
		summary: "Accept all waiting cosmetic changes, which no model acts on", permission: connectors.PermManage, status: http.StatusOK,
	}, h.acceptCosmetic)
	registerOperation(h, operation{
		method: http.MethodGet, path: "/api/v1/connectors/{id}/tools/{name}/changes", id: "listChangesOfTool", tag: tag,
		summary: "List a tool's changes with differences, newest first", permission: connectors.PermRead,
	}, h.listChangesOfTool)
	registerOperation(h, operation{
		method: http.MethodPost, path: "/api/v1/connectors/{id}/tools/{name}/accept", id: "acceptTool", tag: tag,
		summary: "Accept a tool's current definition", permission: connectors.PermManage, status: http.StatusOK,
	}, func(ctx context.Context, actor auth.Actor, in *toolVerdictInput) (*response[toolJSON], error) {
		return h.decideTool(ctx, actor, in, manage.ToolVerdict{Accept: true})
	})
	registerOperation(h, operation{
		method: http.MethodPost, path: "/api/v1/connectors/{id}/tools/{name}/reject", id: "rejectTool", tag: tag,
		summary: "Reject a tool's current definition and stop serving the tool", permission: connectors.PermManage, status: http.StatusOK,
		description: "The tool is served again once the server restores the accepted definition, or this one is accepted.",
	}, func(ctx context.Context, actor auth.Actor, in *toolVerdictInput) (*response[toolJSON], error) {
		return h.decideTool(ctx, actor, in, manage.ToolVerdict{})
	})
	registerOperation(h, operation{
		method: http.MethodPost, path: "/api/v1/connectors/{id}/tools/{name}/keep", id: "keepTool", tag: tag,
		summary: "Keep serving a changed tool's accepted definition until its next change", permission: connectors.PermManage, status: http.StatusOK,
		description: "Agents see and call the accepted definition; the server runs its new code. 409 if unsafe: the change looks like an attack, or has riskier annotations.",
	}, func(ctx context.Context, actor auth.Actor, in *toolVerdictInput) (*response[toolJSON], error) {
		return h.decideTool(ctx, actor, in, manage.ToolVerdict{Keep: true})
	})
	registerOperation(h, operation{
		method: http.MethodPost, path: "/api/v1/connectors/{id}/tools/{name}/restore", id: "restoreTool", tag: tag,
		summary: "Restore an earlier definition of a tool", permission: connectors.PermManage, status: http.StatusOK,
		description: "Any definition once served and still in the history. If calls would be unsafe, the server's definition waits for a decision again, and calls are refused until then.",
	}, h.restoreTool)
	registerOperation(h, operation{
		method: http.MethodPost, path: "/api/v1/tool_changes/decide", id: "decideToolChanges", tag: tag,
		summary: "Decide several changes of tools and instructions, all or none", permission: connectors.PermManage, status: http.StatusOK,
	}, h.decideToolChanges)
}

func (h *Handler) listToolChanges(ctx context.Context, actor auth.Actor, in *toolChangesInput) (*response[list[toolChangeJSON]], error) {
	filter := store.ChangeFilter{State: connectors.ChangeState(in.State), Page: in.toPage()}
	if in.State == "any" {
		filter.State = ""
	}
	var page store.List[connectors.ToolChange]
	err := h.store.Tenant(actor.Tenant.ID).Snapshot(ctx, func(tx *store.Tenant) (err error) {
		if in.Connector != "" {
			c, err := tx.Connectors().Get(ctx, connectors.Ref(in.Connector))
			if err != nil {
				return err
			}
			filter.Connector = &c.ID
		}
		page, err = tx.Tools().Changes(ctx, filter)
		return err
	})
	if err != nil {
		return nil, err
	}
	return newListResponse(page, viewToolChange), nil
}

func (h *Handler) listChangesOfTool(ctx context.Context, actor auth.Actor, in *toolHistoryInput) (*response[list[shownChangeJSON]], error) {
	page, err := h.registry.ToolHistory(ctx, actor.Tenant.ID, in.ref(), in.Tool, in.toPage())
	if err != nil {
		return nil, err
	}
	return newListResponse(page, viewShownChange), nil
}

func (h *Handler) acceptCosmetic(ctx context.Context, actor auth.Actor, _ *struct{}) (*response[acceptedJSON], error) {
	accepted, err := h.registry.AcceptCosmetic(ctx, actor)
	if err != nil {
		return nil, err
	}
	out := acceptedJSON{Accepted: len(accepted), Tools: make([]acceptedToolJSON, len(accepted))}
	for i, t := range accepted {
		out.Tools[i] = acceptedToolJSON{ConnectorID: t.Connector.String(), Tool: t.Tool}
	}
	return &response[acceptedJSON]{Body: out}, nil
}

func (h *Handler) decideTool(ctx context.Context, actor auth.Actor, in *toolVerdictInput, v manage.ToolVerdict) (*response[toolJSON], error) {
	c, err := h.store.Tenant(actor.Tenant.ID).Connectors().Get(ctx, in.ref())
	if err != nil {
		return nil, err
	}
	doc, err := in.JSON.readJSON()
	if err != nil {
		return nil, err
	}
	v.Tool = in.Tool
	if v.Hash, err = definitionHash(doc.Hash); err != nil {
		return nil, err
	}
	tool, err := h.registry.DecideTool(ctx, actor, in.ref(), v)
	if err != nil {
		return nil, err
	}
	return newToolResponse(c, tool), nil
}

// newToolResponse is a tool after a decision.
func newToolResponse(c connectors.Connector, tool connectors.Tool) *response[toolJSON] {
	exposed, ok := connectors.ExposedNames(c.Slug, c.DiscoveredTools)[tool.Name]
	if !ok || tool.AgentName() != tool.Name {
		exposed = exposedNameFor(tool)
	}
	return &response[toolJSON]{Body: viewTool(tool, exposed)}
}

// earlierVersionJSON names an earlier definition.
type earlierVersionJSON struct {
	Hash string `json:"hash" pattern:"^[0-9a-f]{64}$" doc:"Hash of the earlier definition: before_hash of a change."`
}

type restoreToolInput struct {
	ToolPath
	JSON requestBody[earlierVersionJSON]
}

func (h *Handler) restoreTool(ctx context.Context, actor auth.Actor, in *restoreToolInput) (*response[toolJSON], error) {
	doc, err := in.JSON.readJSON()
	if err != nil {
		return nil, err
	}
	hash, err := definitionHash(&doc.Hash)
	if err != nil {
		return nil, err
	}
	if err := h.registry.RestoreTool(ctx, actor, in.ref(), in.Tool, *hash); err != nil {
		return nil, err
	}
	var out *response[toolJSON]
	err = h.store.Tenant(actor.Tenant.ID).Snapshot(ctx, func(tx *store.Tenant) error {
		c, err := tx.Connectors().Get(ctx, in.ref())
		if err != nil {
			return err
		}
		tool, err := tx.Tools().Get(ctx, c.ID, in.Tool)
		out = newToolResponse(c, tool)
		return err
	})
	return out, err
}

// changeDecisionJSON is one change of decideToolChanges.
type changeDecisionJSON struct {
	Connector string `json:"connector" minLength:"1" doc:"The connector's id or slug."`
	Tool      string `json:"tool" doc:"The server's name for it. Empty for the server's instructions, skill: and its URI for a skill."`
	Hash      string `json:"hash" pattern:"^[0-9a-f]{64}$" doc:"Hash of the reviewed definition, after_hash of the change: 409 if the server has changed the tool since."`
}

type changeDecisionsJSON struct {
	Verdict string               `json:"verdict" enum:"accept,reject,keep" doc:"keep: see keepTool; for instructions and skills the same as reject."`
	Changes []changeDecisionJSON `json:"changes" minItems:"1" maxItems:"500" nullable:"false"`
}

type changeDecisionsInput struct {
	JSON requestBody[changeDecisionsJSON]
}

type decidedJSON struct {
	Decided int `json:"decided" doc:"Number of changes decided."`
}

func (h *Handler) decideToolChanges(ctx context.Context, actor auth.Actor, in *changeDecisionsInput) (*response[decidedJSON], error) {
	doc, err := in.JSON.readJSON()
	if err != nil {
		return nil, err
	}
	verdicts := make([]manage.ChangeVerdict, len(doc.Changes))
	for i, c := range doc.Changes {
		hash, err := definitionHash(&c.Hash)
		if err != nil {
			return nil, err
		}
		verdicts[i] = manage.ChangeVerdict{Connector: connectors.Ref(c.Connector), ToolVerdict: manage.ToolVerdict{
			Tool: c.Tool, Accept: doc.Verdict == "accept", Keep: doc.Verdict == "keep", Hash: hash,
		}}
	}
	if err := h.registry.DecideChanges(ctx, actor, verdicts); err != nil {
		return nil, err
	}
	return &response[decidedJSON]{Body: decidedJSON{Decided: len(verdicts)}}, nil
}

func definitionHash(text *string) (*connectors.Hash, error) {
	if text == nil {
		return nil, nil
	}
	var hash connectors.Hash
	if n, err := hex.Decode(hash[:], []byte(*text)); err != nil || n != len(hash) {
		return nil, fault.InvalidFields(fault.Field{Location: "hash", Message: "hash must be SHA-256 in hex."})
	}
	return &hash, nil
}
