package api

import (
	"context"
	"net/http"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/manage"
)

type instructionsHistoryInput struct {
	ConnectorPath
	Paging
}

type instructionsVerdictInput struct {
	ConnectorPath
	JSON optionalBody[toolVerdictJSON]
}

// instructionsJSON is a server's instructions, and those that agents get.
type instructionsJSON struct {
	Review  string `json:"review" enum:"accepted,changed,rejected" doc:"changed: the server's text waits for a decision. rejected: a person rejected it. Either way, agents get the accepted text."`
	Given   string `json:"given" doc:"The accepted text that agents get. Untrusted."`
	Current string `json:"current" doc:"The server's current text. Untrusted."`
	Hash    string `json:"hash" doc:"Hash of current, for accept or reject."`
}

func (h *Handler) mountInstructions() {
	const tag, path = "Tool changes", "/api/v1/connectors/{id}/instructions"
	registerOperation(h, operation{
		method: http.MethodGet, path: path, id: "getInstructions", tag: tag,
		summary: "Get a server's instructions, current and accepted", permission: connectors.PermRead,
	}, h.getInstructions)
	registerOperation(h, operation{
		method: http.MethodGet, path: path + "/changes", id: "listChangesOfInstructions", tag: tag,
		summary: "List changes of a server's instructions with differences, newest first", permission: connectors.PermRead,
	}, h.listChangesOfInstructions)
	registerOperation(h, operation{
		method: http.MethodPost, path: path + "/accept", id: "acceptInstructions", tag: tag,
		summary: "Accept a server's current instructions", permission: connectors.PermManage, status: http.StatusOK,
	}, func(ctx context.Context, actor auth.Actor, in *instructionsVerdictInput) (*response[instructionsJSON], error) {
		return h.decideInstructions(ctx, actor, in, true)
	})
	registerOperation(h, operation{
		method: http.MethodPost, path: path + "/reject", id: "rejectInstructions", tag: tag,
		summary: "Reject a server's current instructions; agents keep the accepted ones", permission: connectors.PermManage, status: http.StatusOK,
	}, func(ctx context.Context, actor auth.Actor, in *instructionsVerdictInput) (*response[instructionsJSON], error) {
		return h.decideInstructions(ctx, actor, in, false)
	})
	registerOperation(h, operation{
		method: http.MethodPost, path: path + "/restore", id: "restoreInstructions", tag: tag,
		summary: "Restore earlier instructions of a server", permission: connectors.PermManage, status: http.StatusOK,
	}, h.restoreInstructions)
}

type restoreInstructionsInput struct {
	ConnectorPath
	JSON requestBody[earlierVersionJSON]
}

func (h *Handler) restoreInstructions(ctx context.Context, actor auth.Actor, in *restoreInstructionsInput) (*response[instructionsJSON], error) {
	doc, err := in.JSON.readJSON()
	if err != nil {
		return nil, err
	}
	hash, err := definitionHash(&doc.Hash)
	if err != nil {
		return nil, err
	}
	if err := h.registry.RestoreTool(ctx, actor, in.ref(), connectors.InstructionsTool, *hash); err != nil {
		return nil, err
	}
	return h.getInstructions(ctx, actor, &in.ConnectorPath)
}

func (h *Handler) getInstructions(ctx context.Context, actor auth.Actor, in *ConnectorPath) (*response[instructionsJSON], error) {
	c, err := h.store.Tenant(actor.Tenant.ID).Connectors().Get(ctx, in.ref())
	if err != nil {
		return nil, err
	}
	return &response[instructionsJSON]{Body: viewInstructions(c)}, nil
}

func (h *Handler) listChangesOfInstructions(ctx context.Context, actor auth.Actor, in *instructionsHistoryInput) (*response[list[shownChangeJSON]], error) {
	page, err := h.registry.ToolHistory(ctx, actor.Tenant.ID, in.ref(), connectors.InstructionsTool, in.toPage())
	if err != nil {
		return nil, err
	}
	return newListResponse(page, viewShownChange), nil
}

func (h *Handler) decideInstructions(ctx context.Context, actor auth.Actor, in *instructionsVerdictInput, accept bool) (*response[instructionsJSON], error) {
	doc, err := in.JSON.readJSON()
	if err != nil {
		return nil, err
	}
	hash, err := definitionHash(doc.Hash)
	if err != nil {
		return nil, err
	}
	c, err := h.registry.DecideInstructions(ctx, actor, in.ref(), manage.ToolVerdict{Accept: accept, Hash: hash})
	if err != nil {
		return nil, err
	}
	return &response[instructionsJSON]{Body: viewInstructions(c)}, nil
}

func viewInstructions(c connectors.Connector) instructionsJSON {
	i := c.Instructions()
	return instructionsJSON{
		Review: string(i.Review), Given: i.Accepted, Current: i.Current, Hash: connectors.InstructionsDefinition(i.Current).Hash.String(),
	}
}
