package api

import (
	"context"
	"net/http"
	"time"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
)

// tenantJSON is the tenant that the caller works in.
type tenantJSON struct {
	ID        string    `json:"id" format:"uuid"`
	Slug      string    `json:"slug"`
	Name      string    `json:"name"`
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
}

// tenantPatch changes the tenant's settings.
type tenantPatch struct {
	Name *string `json:"name,omitempty"`
}

func viewTenant(t connectors.Tenant) tenantJSON {
	return tenantJSON{
		ID:        t.ID.String(),
		Slug:      t.Slug,
		Name:      t.Name,
		CreatedAt: t.CreatedAt.UTC(),
		UpdatedAt: t.UpdatedAt.UTC(),
	}
}

func (h *Handler) mountTenant() {
	const tag = "Tenant"
	register(h, operation{
		method: http.MethodGet, path: "/api/v1/tenant", id: "getTenant", tag: tag,
		summary: "Read the tenant's settings", role: connectors.RoleOwner,
	}, h.getTenant)
	register(h, operation{
		method: http.MethodPatch, path: "/api/v1/tenant", id: "updateTenant", tag: tag,
		summary: "Change the tenant's settings", role: connectors.RoleOwner,
	}, h.updateTenant)
}

func (h *Handler) getTenant(ctx context.Context, who auth.Actor, _ *struct{}) (*answer[tenantJSON], error) {
	t, err := h.store.Tenant(who.Tenant.ID).Self(ctx)
	if err != nil {
		return nil, err
	}
	return &answer[tenantJSON]{Body: viewTenant(t)}, nil
}

func (h *Handler) updateTenant(ctx context.Context, who auth.Actor, in *struct{ JSON document[tenantPatch] }) (*answer[tenantJSON], error) {
	patch, err := in.JSON.read()
	if err != nil {
		return nil, err
	}
	if patch.Name != nil {
		if err := h.auth.RenameTenant(ctx, who, *patch.Name); err != nil {
			return nil, err
		}
	}
	return h.getTenant(ctx, who, nil)
}
