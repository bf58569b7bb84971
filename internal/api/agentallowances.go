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
	Kind        string    `json:"kind" enum:"tool,prompt,resource" doc:"What may be used."`
	Tool        string    `json:"tool" doc:"The server's name for the tool or prompt, or the resource's URI."`
	Account     string    `json:"account,omitempty" doc:"The account that it is for, if the grant binds several."`
	Until       time.Time `json:"until" doc:"When the standing approval ends."`
	GrantedBy   string    `json:"granted_by" doc:"Name of the approver."`
	InForce     bool      `json:"in_force" doc:"false: the server changed or removed it since, so its use needs approval until the server restores what was approved."`
}

func viewAllowance(a store.AgentAllowance) allowanceJSON {
	return allowanceJSON{
		ConnectorID: a.ConnectorID.String(), Connector: a.Slug, Name: a.Name, Kind: string(a.Kind), Tool: a.Tool, Account: a.AccountName, Until: a.Until.UTC(), GrantedBy: a.GrantedBy, InForce: a.InForce,
	}
}

// AllowancePath is the path of an agent's allowance.
type AllowancePath struct {
	AgentGrantPath
	Tool string `path:"tool" doc:"The server's name for the tool or prompt, or the resource's URI."`
	Kind string `query:"kind" enum:"tool,prompt,resource" doc:"Default: tool."`

	Account string `query:"account" maxLength:"48" doc:"One of several accounts of the grant. Absent: all of them."`
}

func (h *Handler) mountAgentAllowances() {
	const tag = "Agents"
	registerOperation(h, operation{
		method: http.MethodGet, path: "/api/v1/agents/{id}/allowances", id: "listAgentAllowances", tag: tag,
		summary: "List an agent's standing approvals", permission: connectors.PermRead,
		description: "Created by approvals with allow_for_s. They end when its grant no longer covers the tool, prompt or resource, when the approval mode changes, and when the connector moves to another origin.",
	}, h.listAgentAllowances)
	registerOperation(h, operation{
		method: http.MethodDelete, path: "/api/v1/agents/{id}/connectors/{connector}/allowances/{tool}", id: "endAgentAllowance", tag: tag,
		summary: "End a standing approval", permission: connectors.PermOperate,
		description: "The next use needs approval. Requires permission to decide the agent's calls.",
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
		Agent: in.ref(), Connector: connectors.Ref(in.Connector), Kind: connectors.CallKind(in.Kind), Tool: in.Tool, Account: in.Account,
	})
}
