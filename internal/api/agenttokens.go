package api

import (
	"context"
	"net/http"
	"time"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/manage"
)

// agentTokenJSON is an agent's token, without its secret.
type agentTokenJSON struct {
	ID         string     `json:"id" format:"uuid"`
	AgentID    string     `json:"agent_id" format:"uuid"`
	Name       string     `json:"name"`
	Prefix     string     `json:"prefix" doc:"The first characters, to recognize the token."`
	CreatedAt  time.Time  `json:"created_at"`
	ExpiresAt  *time.Time `json:"expires_at" doc:"Null if it never expires."`
	LastUsedAt *time.Time `json:"last_used_at" doc:"Accurate to a minute. Null if never used."`
	Token      string     `json:"token,omitempty" doc:"The token, only in the response that creates it."`
}

func viewAgentToken(t connectors.AgentToken) agentTokenJSON {
	return agentTokenJSON{
		ID:         t.ID.String(),
		AgentID:    t.AgentID.String(),
		Name:       t.Name,
		Prefix:     t.Prefix,
		CreatedAt:  t.CreatedAt.UTC(),
		ExpiresAt:  toUTC(t.ExpiresAt),
		LastUsedAt: toUTC(t.LastUsedAt),
	}
}

type agentTokenCreate struct {
	Name      string     `json:"name,omitempty"`
	ExpiresAt *time.Time `json:"expires_at,omitempty" nullable:"true" doc:"Null or absent: never expires."`
}

type createAgentTokenInput struct {
	AgentPath
	JSON optionalBody[agentTokenCreate]
}

type listAgentTokensInput struct {
	AgentPath
	Paging
}

type agentTokenPath struct {
	AgentPath
	Token string `path:"token_id" doc:"A token's id."`
}

func (h *Handler) mountAgentTokens() {
	const tag = "Agents"
	registerOperation(h, operation{
		method: http.MethodGet, path: "/api/v1/agents/{id}/tokens", id: "listAgentTokens", tag: tag,
		summary: "List an agent's tokens, newest first", permission: connectors.PermRead,
	}, h.listAgentTokens)
	registerOperation(h, operation{
		method: http.MethodPost, path: "/api/v1/agents/{id}/tokens", id: "createAgentToken", tag: tag,
		summary: "Create a token, shown once", permission: connectors.PermManage, status: http.StatusCreated,
	}, h.createAgentToken)
	registerOperation(h, operation{
		method: http.MethodDelete, path: "/api/v1/agents/{id}/tokens/{token_id}", id: "revokeAgentToken", tag: tag,
		summary: "Revoke a token; it stops working within a second", permission: connectors.PermManage,
	}, h.revokeAgentToken)
}

func (h *Handler) listAgentTokens(ctx context.Context, actor auth.Actor, in *listAgentTokensInput) (*response[list[agentTokenJSON]], error) {
	page, err := h.registry.Tokens(ctx, actor, in.ref(), in.toPage())
	if err != nil {
		return nil, err
	}
	return newListResponse(page, viewAgentToken), nil
}

func (h *Handler) createAgentToken(ctx context.Context, actor auth.Actor, in *createAgentTokenInput) (*response[agentTokenJSON], error) {
	if _, err := h.store.Tenant(actor.Tenant.ID).Agents().Get(ctx, in.ref()); err != nil {
		return nil, err
	}
	doc, err := in.JSON.readJSON()
	if err != nil {
		return nil, err
	}
	token, text, err := h.registry.IssueToken(ctx, actor, in.ref(), manage.TokenRequest{Name: doc.Name, ExpiresAt: doc.ExpiresAt})
	if err != nil {
		return nil, err
	}
	out := viewAgentToken(token)
	out.Token = text.Reveal()
	return &response[agentTokenJSON]{Body: out}, nil
}

func (h *Handler) revokeAgentToken(ctx context.Context, actor auth.Actor, in *agentTokenPath) (*noContent, error) {
	id, ok := connectors.Ref(in.Token).UUID()
	if !ok {
		return nil, fault.Errorf(fault.NotFound, "No such token.")
	}
	return nil, h.registry.RevokeToken(ctx, actor, in.ref(), connectors.AgentTokenID{UUID: id})
}
