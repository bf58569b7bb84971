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

	CallHistory      string `json:"call_history" enum:"none,redacted,full" doc:"What the history keeps of arguments and results."`
	ApprovalTimeoutS int    `json:"approval_timeout_s" doc:"How long a call waits for a person, before its agent is told to come back."`
}

// tenantPatch changes the tenant's settings.
type tenantPatch struct {
	Name             *string `json:"name,omitempty"`
	CallHistory      *string `json:"call_history,omitempty" enum:"none,redacted,full"`
	ApprovalTimeoutS *int    `json:"approval_timeout_s,omitempty" minimum:"1" maximum:"86400"`
}

func (p tenantPatch) change() auth.TenantChange {
	c := auth.TenantChange{Name: p.Name}
	if p.CallHistory != nil {
		history := connectors.CallHistory(*p.CallHistory)
		c.CallHistory = &history
	}
	if p.ApprovalTimeoutS != nil {
		timeout := time.Duration(*p.ApprovalTimeoutS) * time.Second
		c.ApprovalTimeout = &timeout
	}
	return c
}

func viewTenant(t connectors.Tenant) tenantJSON {
	return tenantJSON{
		ID:        t.ID.String(),
		Slug:      t.Slug,
		Name:      t.Name,
		CreatedAt: t.CreatedAt.UTC(),
		UpdatedAt: t.UpdatedAt.UTC(),

		CallHistory:      string(t.CallHistory),
		ApprovalTimeoutS: int(t.ApprovalTimeout / time.Second),
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
	if err := h.auth.ChangeTenant(ctx, who, patch.change()); err != nil {
		return nil, err
	}
	return h.getTenant(ctx, who, nil)
}
