package api

import (
	"cmp"
	"context"
	"net/http"
	"time"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
)

// agentClientJSON is a program that a member authorized to act as an agent.
type agentClientJSON struct {
	ID        string    `json:"id"`
	AgentID   string    `json:"agent_id"`
	ClientID  string    `json:"client_id" doc:"The id of a self-registered program, or the URL of its client document."`
	Name      string    `json:"name" doc:"The program's name, not verified."`
	Host      string    `json:"host" doc:"The host of its client document. Empty if its identity is not verified."`
	Resource  string    `json:"resource" doc:"The address that its tokens are valid for."`
	UserID    string    `json:"user_id" doc:"User that authorized it."`
	User      string    `json:"user" doc:"The user's name or email."`
	CreatedAt time.Time `json:"created_at"`
	UsedAt    time.Time `json:"used_at"`
	ExpiresAt time.Time `json:"expires_at" doc:"When its access ends, unless it refreshes its token."`
}

type listAgentClientsInput struct {
	AgentPath
	Paging
}

type agentClientPath struct {
	AgentPath
	Client string `path:"client_id" doc:"The program's client id."`
}

func (h *Handler) mountAgentClients() {
	const tag = "Agents"
	registerOperation(h, operation{
		method: http.MethodGet, path: "/api/v1/agents/{id}/clients", id: "listAgentClients", tag: tag,
		summary: "List programs signed in as an agent, newest first", permission: connectors.PermRead,
	}, h.listAgentClients)
	registerOperation(h, operation{
		method: http.MethodDelete, path: "/api/v1/agents/{id}/clients/{client_id}", id: "endAgentClient", tag: tag,
		summary: "Revoke a program's access", permission: connectors.PermManage, ownerPermission: connectors.PermRead,
		description: "Its tokens stop working within a second. For their own agent, members see and revoke only programs that they authorized.",
	}, h.endAgentClient)
}

func (h *Handler) listAgentClients(ctx context.Context, actor auth.Actor, in *listAgentClientsInput) (*response[list[agentClientJSON]], error) {
	page, err := h.programs.Clients(ctx, actor, in.ref(), in.toPage())
	if err != nil {
		return nil, err
	}
	return newListResponse(page, h.viewAgentClient), nil
}

func (h *Handler) viewAgentClient(c connectors.AgentClient) agentClientJSON {
	return agentClientJSON{
		ID: c.ID.String(), AgentID: c.AgentID.String(), ClientID: c.ClientID, Name: c.Name, Host: c.Host, Resource: h.baseURL + c.Resource,
		UserID: c.UserID.String(), User: cmp.Or(c.Person, c.Email), CreatedAt: c.CreatedAt, UsedAt: c.UsedAt, ExpiresAt: c.ExpiresAt,
	}
}

func (h *Handler) endAgentClient(ctx context.Context, actor auth.Actor, in *agentClientPath) (*noContent, error) {
	id, ok := connectors.Ref(in.Client).UUID()
	if !ok {
		return nil, fault.Errorf(fault.NotFound, "No such client.")
	}
	return nil, h.programs.EndAsAgent(ctx, actor, in.ref(), connectors.AgentClientID{UUID: id})
}
