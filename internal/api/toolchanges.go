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
	State     string `query:"state" enum:"waiting,accepted,rejected,automatic,superseded,any" default:"waiting" doc:"What became of them: those that wait for a decision, unless it says otherwise."`
	Connector string `query:"connector" doc:"Only changes at this connector, by id or slug."`
	Paging
}

// ToolPath is the path of a connector's tool.
type ToolPath struct {
	ConnectorPath
	Tool string `path:"name" doc:"The server's own name for it."`
}

type toolHistoryInput struct {
	ToolPath
	Paging
}

// toolVerdictJSON names the definition that a person decides about.
type toolVerdictJSON struct {
	Hash *string `json:"hash,omitempty" pattern:"^[0-9a-f]{64}$" doc:"Of the definition that was looked at: where the server has changed the tool again, the answer is 409. Without it, whichever definition is current is decided."`
}

type toolVerdictInput struct {
	ToolPath
	JSON optionalBody[toolVerdictJSON]
}

func (h *Handler) mountToolChanges() {
	const tag = "Tool changes"
	registerOperation(h, operation{
		method: http.MethodGet, path: "/api/v1/tool_changes", id: "listToolChanges", tag: tag,
		summary: "List the changes of tools and of servers' instructions, those that wait for a decision or others, the latest first", permission: connectors.PermRead,
	}, h.listToolChanges)
	registerOperation(h, operation{
		method: http.MethodPost, path: "/api/v1/tool_changes/accept_cosmetic", id: "acceptCosmeticToolChanges", tag: tag,
		summary: "Accept all waiting changes that no model acts on", permission: connectors.PermManage, status: http.StatusOK,
	}, h.acceptCosmetic)
	registerOperation(h, operation{
		method: http.MethodGet, path: "/api/v1/connectors/{id}/tools/{name}/changes", id: "listChangesOfTool", tag: tag,
		summary: "List what became of a tool, with the differences, the latest first", permission: connectors.PermRead,
	}, h.listChangesOfTool)
	registerOperation(h, operation{
		method: http.MethodPost, path: "/api/v1/connectors/{id}/tools/{name}/accept", id: "acceptTool", tag: tag,
		summary: "Accept a tool's current definition, which agents are then served", permission: connectors.PermManage, status: http.StatusOK,
	}, func(ctx context.Context, actor auth.Actor, in *toolVerdictInput) (*response[toolJSON], error) {
		return h.decideTool(ctx, actor, in, true)
	})
	registerOperation(h, operation{
		method: http.MethodPost, path: "/api/v1/connectors/{id}/tools/{name}/reject", id: "rejectTool", tag: tag,
		summary: "Reject a tool's current definition; the tool is not served then", permission: connectors.PermManage, status: http.StatusOK,
		description: "The tool is served again when the server goes back to the accepted definition, or when this one is accepted after all.",
	}, func(ctx context.Context, actor auth.Actor, in *toolVerdictInput) (*response[toolJSON], error) {
		return h.decideTool(ctx, actor, in, false)
	})
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

func (h *Handler) decideTool(ctx context.Context, actor auth.Actor, in *toolVerdictInput, accept bool) (*response[toolJSON], error) {
	c, err := h.store.Tenant(actor.Tenant.ID).Connectors().Get(ctx, in.ref())
	if err != nil {
		return nil, err
	}
	doc, err := in.JSON.readJSON()
	if err != nil {
		return nil, err
	}
	hash, err := definitionHash(doc.Hash)
	if err != nil {
		return nil, err
	}
	tool, err := h.registry.DecideTool(ctx, actor, in.ref(), manage.ToolVerdict{Tool: in.Tool, Accept: accept, Hash: hash})
	if err != nil {
		return nil, err
	}
	exposed, ok := connectors.ExposedNames(c.Slug, c.DiscoveredTools)[tool.Name]
	if !ok || tool.AgentName() != tool.Name {
		exposed = exposedNameFor(tool)
	}
	return &response[toolJSON]{Body: viewTool(tool, exposed)}, nil
}

func definitionHash(text *string) (*connectors.Hash, error) {
	if text == nil {
		return nil, nil
	}
	var hash connectors.Hash
	if n, err := hex.Decode(hash[:], []byte(*text)); err != nil || n != len(hash) {
		return nil, fault.InvalidFields(fault.Field{Location: "hash", Message: "hash is no SHA-256 in hexadecimal."})
	}
	return &hash, nil
}
