package api

import (
	"context"
	"net/http"
	"time"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
)

// apiKeyJSON is an API key, without its secret.
type apiKeyJSON struct {
	ID         string     `json:"id" format:"uuid"`
	Name       string     `json:"name"`
	Role       string     `json:"role" enum:"viewer,member,admin,owner,auditor"`
	Prefix     string     `json:"prefix" doc:"The first characters, to recognize the key."`
	CreatedAt  time.Time  `json:"created_at"`
	CreatedBy  string     `json:"created_by" doc:"The creator's name at that time. Empty if unknown."`
	ExpiresAt  *time.Time `json:"expires_at" doc:"Null if it never expires."`
	LastUsedAt *time.Time `json:"last_used_at" doc:"Accurate to a minute. Null if never used."`
	RevokedAt  *time.Time `json:"revoked_at" doc:"Null if not revoked."`
	Key        string     `json:"key,omitempty" doc:"The key, only in the response that creates it."`
}

type apiKeyCreate struct {
	Name      string     `json:"name"`
	Role      string     `json:"role" enum:"viewer,member,admin,owner,auditor"`
	ExpiresAt *time.Time `json:"expires_at,omitempty" nullable:"true" doc:"Null or absent: never expires."`
}

type apiKeyPath struct {
	ID string `path:"id" doc:"An API key's id."`
}

func viewAPIKey(k connectors.APIKey) apiKeyJSON {
	return apiKeyJSON{
		ID:         k.ID.String(),
		Name:       k.Name,
		Role:       string(k.Role),
		Prefix:     k.Prefix,
		CreatedAt:  k.CreatedAt.UTC(),
		CreatedBy:  k.CreatedBy,
		ExpiresAt:  toUTC(k.ExpiresAt),
		LastUsedAt: toUTC(k.LastUsedAt),
		RevokedAt:  toUTC(k.RevokedAt),
	}
}

func (h *Handler) mountAPIKeys() {
	const tag = "API keys"
	registerOperation(h, operation{
		method: http.MethodGet, path: "/api/v1/api_keys", id: "listAPIKeys", tag: tag,
		summary: "List API keys", permission: connectors.PermOwn,
	}, h.listAPIKeys)
	registerOperation(h, operation{
		method: http.MethodPost, path: "/api/v1/api_keys", id: "createAPIKey", tag: tag,
		summary: "Create an API key, shown once", permission: connectors.PermOwn, status: http.StatusCreated,
	}, h.createAPIKey)
	registerOperation(h, operation{
		method: http.MethodDelete, path: "/api/v1/api_keys/{id}", id: "revokeAPIKey", tag: tag,
		summary: "Revoke an API key", permission: connectors.PermOwn,
	}, h.revokeAPIKey)
}

func (h *Handler) listAPIKeys(ctx context.Context, actor auth.Actor, in *Paging) (*response[list[apiKeyJSON]], error) {
	page, err := h.store.Tenant(actor.Tenant.ID).People().APIKeys(ctx, in.toPage())
	if err != nil {
		return nil, err
	}
	return newListResponse(page, viewAPIKey), nil
}

func (h *Handler) createAPIKey(ctx context.Context, actor auth.Actor, in *struct{ JSON requestBody[apiKeyCreate] }) (*response[apiKeyJSON], error) {
	doc, err := in.JSON.readJSON()
	if err != nil {
		return nil, err
	}
	key, text, err := h.auth.IssueKey(ctx, actor, auth.KeyRequest{
		Name: doc.Name, Role: connectors.Role(doc.Role), ExpiresAt: doc.ExpiresAt,
	})
	if err != nil {
		return nil, err
	}
	out := viewAPIKey(key)
	out.Key = text.Reveal()
	return &response[apiKeyJSON]{Body: out}, nil
}

func (h *Handler) revokeAPIKey(ctx context.Context, actor auth.Actor, in *apiKeyPath) (*noContent, error) {
	id, ok := connectors.Ref(in.ID).UUID()
	if !ok {
		return nil, fault.Errorf(fault.NotFound, "No such API key.")
	}
	return nil, h.auth.RevokeKey(ctx, actor, connectors.APIKeyID{UUID: id})
}
