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

// agentJSON is a program that uses tools.
type agentJSON struct {
	ID          string `json:"id" format:"uuid"`
	Slug        string `json:"slug"`
	Name        string `json:"name"`
	Description string `json:"description"`
	Approval    string `json:"approval" enum:"auto,always_ask,trusted_only" doc:"Which of its tool calls wait for a person."`
	Enabled     bool   `json:"enabled"`

	NameLimit      int `json:"name_limit" doc:"How many characters the names of its tools have at most."`
	CallsPerMinute int `json:"calls_per_minute" doc:"Of all its tools together; 0: not bounded."`

	Member *agentMemberJSON `json:"member" doc:"The member whose agent it is, who connects its accounts; null: it is the tenant's."`

	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
}

// agentMemberJSON is the member for whose programs an agent was made.
type agentMemberJSON struct {
	ID   string `json:"id" format:"uuid" doc:"Of the person, as in the list of members."`
	Name string `json:"name" doc:"Their name, or address."`
}

// TransformSchema implements huma.SchemaTransformer.
func (agentJSON) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	return orNull(s, "member")
}

// viewAgents sees agents with whose they are.
func viewAgents(ctx context.Context, tenant *store.Tenant, agents ...connectors.Agent) (func(connectors.Agent) agentJSON, error) {
	ids := make([]connectors.AgentID, len(agents))
	for i, a := range agents {
		ids[i] = a.ID
	}
	whose, err := tenant.AgentsOfMembers(ctx, ids...)
	return func(a connectors.Agent) agentJSON {
		out := viewAgent(a)
		if m, ok := whose[a.ID]; ok {
			out.Member = &agentMemberJSON{ID: m.UserID.String(), Name: m.DisplayName()}
		}
		return out
	}, err
}

// answerAgent is the answer that is one agent.
func (h *Handler) answerAgent(ctx context.Context, who auth.Actor, a connectors.Agent) (*answer[agentJSON], error) {
	view, err := viewAgents(ctx, h.store.Tenant(who.Tenant.ID), a)
	if err != nil {
		return nil, err
	}
	return &answer[agentJSON]{Body: view(a)}, nil
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

		CreatedAt: a.CreatedAt.UTC(),
		UpdatedAt: a.UpdatedAt.UTC(),
	}
}

// agentPatch changes an agent. An absent field keeps what it has.
type agentPatch struct {
	Slug        *string `json:"slug,omitempty"`
	Name        *string `json:"name,omitempty"`
	Description *string `json:"description,omitempty"`
	Approval    *string `json:"approval,omitempty" enum:"auto,always_ask,trusted_only"`
	Enabled     *bool   `json:"enabled,omitempty"`

	NameLimit      *int `json:"name_limit,omitempty" minimum:"64" maximum:"128" doc:"How many characters the names of its tools have at most; longer ones are cut. 64 is the strictest provider's limit."`
	CallsPerMinute *int `json:"calls_per_minute,omitempty" minimum:"0" maximum:"1000000" doc:"Of all its tools together; 0: not bounded."`
}

// agentCreate describes a new agent.
type agentCreate agentPatch

// TransformSchema implements huma.SchemaTransformer.
func (agentCreate) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	s.Required = []string{"name"}
	return s
}

func (p agentPatch) apply(a *connectors.Agent) {
	set(&a.Slug, p.Slug)
	set(&a.Name, p.Name)
	set(&a.Description, p.Description)
	setWord(&a.Approval, p.Approval)
	set(&a.Enabled, p.Enabled)
	set(&a.NameLimit, p.NameLimit)
	set(&a.CallsPerMinute, p.CallsPerMinute)
}

// AgentPath names an agent.
type AgentPath struct {
	ID string `path:"id" doc:"An agent's id or slug."`
}

func (p AgentPath) ref() connectors.Ref { return connectors.Ref(p.ID) }

func (h *Handler) mountAgents() {
	const tag = "Agents"
	register(h, operation{
		method: http.MethodGet, path: "/api/v1/agents", id: "listAgents", tag: tag,
		summary: "List the agents", may: connectors.PermRead,
	}, h.listAgents)
	register(h, operation{
		method: http.MethodPost, path: "/api/v1/agents", id: "createAgent", tag: tag,
		summary: "Make an agent", may: connectors.PermManage, status: http.StatusCreated,
	}, h.createAgent)
	register(h, operation{
		method: http.MethodGet, path: "/api/v1/agents/{id}", id: "getAgent", tag: tag,
		summary: "Read an agent", may: connectors.PermRead,
	}, h.getAgent)
	register(h, operation{
		method: http.MethodPatch, path: "/api/v1/agents/{id}", id: "updateAgent", tag: tag,
		summary: "Change an agent", may: connectors.PermManage,
	}, h.updateAgent)
	register(h, operation{
		method: http.MethodDelete, path: "/api/v1/agents/{id}", id: "deleteAgent", tag: tag,
		summary: "Delete an agent and its credentials", may: connectors.PermManage,
	}, h.deleteAgent)
}

func (h *Handler) listAgents(ctx context.Context, who auth.Actor, in *Paging) (*answer[list[agentJSON]], error) {
	tenant := h.store.Tenant(who.Tenant.ID)
	page, err := tenant.Agents(ctx, in.page())
	if err != nil {
		return nil, err
	}
	view, err := viewAgents(ctx, tenant, page.Items...)
	if err != nil {
		return nil, err
	}
	return listOf(page, view), nil
}

func (h *Handler) createAgent(ctx context.Context, who auth.Actor, in *struct{ JSON document[agentCreate] }) (*answer[agentJSON], error) {
	doc, err := in.JSON.read()
	if err != nil {
		return nil, err
	}
	a := connectors.Agent{Enabled: true}
	agentPatch(doc).apply(&a)
	a, err = h.registry.CreateAgent(ctx, who, a)
	if err != nil {
		return nil, err
	}
	return h.answerAgent(ctx, who, a)
}

func (h *Handler) getAgent(ctx context.Context, who auth.Actor, in *AgentPath) (*answer[agentJSON], error) {
	a, err := h.store.Tenant(who.Tenant.ID).Agent(ctx, in.ref())
	if err != nil {
		return nil, err
	}
	return h.answerAgent(ctx, who, a)
}

type updateAgentInput struct {
	AgentPath
	JSON document[agentPatch]
}

func (h *Handler) updateAgent(ctx context.Context, who auth.Actor, in *updateAgentInput) (*answer[agentJSON], error) {
	a, err := h.store.Tenant(who.Tenant.ID).Agent(ctx, in.ref())
	if err != nil {
		return nil, err
	}
	patch, err := in.JSON.read()
	if err != nil {
		return nil, err
	}
	patch.apply(&a)
	a, err = h.registry.UpdateAgent(ctx, who, a)
	if err != nil {
		return nil, err
	}
	return h.answerAgent(ctx, who, a)
}

func (h *Handler) deleteAgent(ctx context.Context, who auth.Actor, in *AgentPath) (*nothing, error) {
	return nil, h.registry.DeleteAgent(ctx, who, in.ref())
}
