package api

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/store"
)

type agentJSON struct {
	ID          string `json:"id" format:"uuid"`
	Slug        string `json:"slug"`
	Name        string `json:"name"`
	Description string `json:"description"`
	Approval    string `json:"approval" enum:"auto,always_ask,trusted_only,always_ask_all" doc:"Which tool calls need approval. always_ask_all: prompts and resources do, too."`
	Enabled     bool   `json:"enabled"`

	NameLimit      int `json:"name_limit" doc:"Maximum length of tool names."`
	CallsPerMinute int `json:"calls_per_minute" doc:"For all its tools together. 0: no limit."`

	ToolList string `json:"tool_list" enum:"full,lean,auto" doc:"What tools/list contains. lean: the pinned tools, and tools that find and call the others. auto: lean if the full list has more than 10000 tokens (estimated)."`

	Member *agentMemberJSON `json:"member" doc:"Owner of the agent, connects its accounts. Null: the tenant's agent."`

	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
}

// agentMemberJSON is the member that owns an agent.
type agentMemberJSON struct {
	ID   string `json:"id" format:"uuid" doc:"The user's id, as in the list of members."`
	Name string `json:"name" doc:"The user's name or email."`
}

// TransformSchema implements huma.SchemaTransformer.
func (agentJSON) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	return setNullable(s, "member")
}

// viewAgents returns the view of agents with their owners.
func viewAgents(ctx context.Context, tenant store.Accounts, agents ...connectors.Agent) (func(connectors.Agent) agentJSON, error) {
	ids := make([]connectors.AgentID, len(agents))
	for i, a := range agents {
		ids[i] = a.ID
	}
	owners, err := tenant.AgentsOfMembers(ctx, ids...)
	return func(a connectors.Agent) agentJSON {
		out := viewAgent(a)
		if m, ok := owners[a.ID]; ok {
			out.Member = &agentMemberJSON{ID: m.UserID.String(), Name: m.DisplayName()}
		}
		return out
	}, err
}

func agentResponse(ctx context.Context, tenant store.Accounts, a connectors.Agent) (*response[agentJSON], error) {
	view, err := viewAgents(ctx, tenant, a)
	if err != nil {
		return nil, err
	}
	return &response[agentJSON]{Body: view(a)}, nil
}

func viewAgent(a connectors.Agent) agentJSON {
	return agentJSON{
		ID:          a.ID.String(),
		Slug:        a.Slug,
		Name:        a.Name,
		Description: a.Description,
		Approval:    string(a.Approval),
		Enabled:     a.Enabled,

		NameLimit:      a.NameLimit,
		CallsPerMinute: a.CallsPerMinute,
		ToolList:       string(a.ToolList),

		CreatedAt: a.CreatedAt.UTC(),
		UpdatedAt: a.UpdatedAt.UTC(),
	}
}

// agentPatch changes an agent. An absent field keeps its value.
type agentPatch struct {
	Slug        *string `json:"slug,omitempty"`
	Name        *string `json:"name,omitempty"`
	Description *string `json:"description,omitempty"`
	Approval    *string `json:"approval,omitempty" enum:"auto,always_ask,trusted_only,always_ask_all"`
	Enabled     *bool   `json:"enabled,omitempty"`

	NameLimit      *int `json:"name_limit,omitempty" minimum:"64" maximum:"128" doc:"Maximum length of tool names; longer ones are cut. 64 is the strictest provider's limit."`
	CallsPerMinute *int `json:"calls_per_minute,omitempty" minimum:"0" maximum:"1000000" doc:"For all its tools together. 0: no limit."`

	ToolList *string `json:"tool_list,omitempty" enum:"full,lean,auto" doc:"What tools/list contains at /mcp. A connector's own address always lists all tools."`
}

type agentCreate agentPatch

// TransformSchema implements huma.SchemaTransformer.
func (agentCreate) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	s.Required = []string{"name"}
	return s
}

func (p agentPatch) apply(a *connectors.Agent) {
	setIfPresent(&a.Slug, p.Slug)
	setIfPresent(&a.Name, p.Name)
	setIfPresent(&a.Description, p.Description)
	setWordIfPresent(&a.Approval, p.Approval)
	setIfPresent(&a.Enabled, p.Enabled)
	setIfPresent(&a.NameLimit, p.NameLimit)
	setIfPresent(&a.CallsPerMinute, p.CallsPerMinute)
	setWordIfPresent(&a.ToolList, p.ToolList)
}

// AgentPath is the path of an agent.
type AgentPath struct {
	ID string `path:"id" doc:"An agent's id or slug."`
}

func (p AgentPath) ref() connectors.Ref { return connectors.Ref(p.ID) }

func (h *Handler) mountAgents() {
	const tag = "Agents"
	registerOperation(h, operation{
		method: http.MethodGet, path: "/api/v1/agents", id: "listAgents", tag: tag,
		summary: "List agents", permission: connectors.PermRead,
	}, h.listAgents)
	registerOperation(h, operation{
		method: http.MethodPost, path: "/api/v1/agents", id: "createAgent", tag: tag,
		summary: "Create an agent", permission: connectors.PermManage, status: http.StatusCreated,
	}, h.createAgent)
	registerOperation(h, operation{
		method: http.MethodGet, path: "/api/v1/agents/{id}", id: "getAgent", tag: tag,
		summary: "Get an agent", permission: connectors.PermRead,
	}, h.getAgent)
	registerOperation(h, operation{
		method: http.MethodPatch, path: "/api/v1/agents/{id}", id: "updateAgent", tag: tag,
		summary: "Update an agent", permission: connectors.PermManage,
	}, h.updateAgent)
	registerOperation(h, operation{
		method: http.MethodDelete, path: "/api/v1/agents/{id}", id: "deleteAgent", tag: tag,
		summary: "Delete an agent and its credentials", permission: connectors.PermManage,
	}, h.deleteAgent)
}

func (h *Handler) listAgents(ctx context.Context, actor auth.Actor, in *Paging) (*response[list[agentJSON]], error) {
	var page store.List[connectors.Agent]
	var view func(connectors.Agent) agentJSON
	err := h.store.Tenant(actor.Tenant.ID).Snapshot(ctx, func(tx *store.Tenant) (err error) {
		if page, err = tx.Agents().List(ctx, in.toPage()); err != nil {
			return err
		}
		view, err = viewAgents(ctx, tx.Accounts(), page.Items...)
		return err
	})
	if err != nil {
		return nil, err
	}
	return newListResponse(page, view), nil
}

func (h *Handler) createAgent(ctx context.Context, actor auth.Actor, in *struct{ JSON requestBody[agentCreate] }) (*response[agentJSON], error) {
	doc, err := in.JSON.readJSON()
	if err != nil {
		return nil, err
	}
	a := connectors.Agent{Enabled: true}
	agentPatch(doc).apply(&a)
	a, err = h.registry.CreateAgent(ctx, actor, a)
	if err != nil {
		return nil, err
	}
	return agentResponse(ctx, h.store.Tenant(actor.Tenant.ID).Accounts(), a)
}

func (h *Handler) getAgent(ctx context.Context, actor auth.Actor, in *AgentPath) (*response[agentJSON], error) {
	var out *response[agentJSON]
	err := h.store.Tenant(actor.Tenant.ID).Snapshot(ctx, func(tx *store.Tenant) error {
		a, err := tx.Agents().Get(ctx, in.ref())
		if err != nil {
			return err
		}
		out, err = agentResponse(ctx, tx.Accounts(), a)
		return err
	})
	return out, err
}

type updateAgentInput struct {
	AgentPath
	JSON requestBody[agentPatch]
}

func (h *Handler) updateAgent(ctx context.Context, actor auth.Actor, in *updateAgentInput) (*response[agentJSON], error) {
	a, err := h.store.Tenant(actor.Tenant.ID).Agents().Get(ctx, in.ref())
	if err != nil {
		return nil, err
	}
	patch, err := in.JSON.readJSON()
	if err != nil {
		return nil, err
	}
	patch.apply(&a)
	a, err = h.registry.UpdateAgent(ctx, actor, a)
	if err != nil {
		return nil, err
	}
	return agentResponse(ctx, h.store.Tenant(actor.Tenant.ID).Accounts(), a)
}

func (h *Handler) deleteAgent(ctx context.Context, actor auth.Actor, in *AgentPath) (*noContent, error) {
	return nil, h.registry.DeleteAgent(ctx, actor, in.ref())
}
