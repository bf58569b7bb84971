package api

import (
	"context"
	"net/http"
	"time"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/manage"
	"patchbay/internal/store"
)

// allowanceJSON lets an agent call a tool, or use a prompt or a resource, without approval until a time.
type allowanceJSON struct {
	ConnectorID string    `json:"connector_id" format:"uuid"`
	Connector   string    `json:"connector" doc:"The connector's slug."`
	Name        string    `json:"name" doc:"The connector's name."`
	Kind        string    `json:"kind" enum:"tool,prompt,resource" doc:"What is allowed."`
	Tool        string    `json:"tool" doc:"The server's name for the tool or prompt; of a resource the URI."`
	Until       time.Time `json:"until" doc:"Until then its use needs no approval."`
	GrantedBy   string    `json:"granted_by" doc:"The name of the approving person."`
	InForce     bool      `json:"in_force" doc:"false: the server has changed or removed the tool, or does not list the prompt, since. A use needs approval, unless the server goes back to what the person saw."`
}

func viewAllowance(a store.AgentAllowance) allowanceJSON {
	return allowanceJSON{
		ConnectorID: a.ConnectorID.String(), Connector: a.Slug, Name: a.Name, Kind: string(a.Kind), Tool: a.Tool, Until: a.Until.UTC(), GrantedBy: a.GrantedBy, InForce: a.InForce,
	}
}

// AllowancePath is the path of an agent's allowance.
type AllowancePath struct {
	AgentGrantPath
	Tool string `path:"tool" doc:"The server's name for the tool or prompt; of a resource the URI."`
	Kind string `query:"kind" enum:"tool,prompt,resource" doc:"Default: tool."`
}

func (h *Handler) mountAgentAllowances() {
	const tag = "Agents"
	registerOperation(h, operation{
		method: http.MethodGet, path: "/api/v1/agents/{id}/allowances", id: "listAgentAllowances", tag: tag,
		summary: "List what an agent may use without approval for a time", permission: connectors.PermRead,
		description: "They come from approvals with allow_for_s. One ends with its grant, when the grant no longer covers the tool, prompt or resource, when the approval mode is changed, and when the connector moves to another origin.",
	}, h.listAgentAllowances)
	registerOperation(h, operation{
		method: http.MethodDelete, path: "/api/v1/agents/{id}/connectors/{connector}/allowances/{tool}", id: "endAgentAllowance", tag: tag,
		summary: "End an allowance: the next use needs approval again", permission: connectors.PermOperate,
		description: "It needs the right to decide the agent's calls.",
	}, h.endAgentAllowance)
}

type listAllowancesInput struct {
	AgentPath
	Paging
}

func (h *Handler) listAgentAllowances(ctx context.Context, actor auth.Actor, in *listAllowancesInput) (*response[list[allowanceJSON]], error) {
	page, err := h.registry.Allowances(ctx, actor, in.ref(), in.toPage())
	if err != nil {
		return nil, err
	}
	return newListResponse(page, viewAllowance), nil
}

func (h *Handler) endAgentAllowance(ctx context.Context, actor auth.Actor, in *AllowancePath) (*noContent, error) {
	return nil, h.registry.EndAllowance(ctx, actor, manage.AllowanceRef{
		Agent: in.ref(), Connector: connectors.Ref(in.Connector), Kind: connectors.CallKind(in.Kind), Tool: in.Tool,
	})
}
