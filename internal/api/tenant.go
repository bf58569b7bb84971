package api

import (
	"context"
	"net/http"
	"time"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
)

// tenantJSON is the caller's tenant.
type tenantJSON struct {
	ID        string    `json:"id" format:"uuid"`
	Slug      string    `json:"slug"`
	Name      string    `json:"name"`
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`

	CallHistory      string `json:"call_history" enum:"none,redacted,full" doc:"How arguments and results are kept in the call history."`
	BodyReaders      string `json:"body_readers" enum:"everyone,auditors" doc:"Who can read stored arguments and results: everyone who sees the call, or only auditors, with every read audited."`
	ApprovalTimeoutS int    `json:"approval_timeout_s" doc:"How long a call waits for approval before the agent is asked to retry."`

	HistoryDays     int        `json:"history_days" doc:"Days to keep history, set by the tenant. 0: the installation's limit."`
	HistoryDaysKept int        `json:"history_days_kept" doc:"Days that calls, sync runs and decided tool changes are actually kept."`
	HistorySince    *time.Time `json:"history_since" doc:"Start of the history. Null if empty."`

	SecondFactorRequired bool `json:"second_factor_required" doc:"Whether members must set up a second factor to use the tenant in a browser. Single sign-on leaves this to the provider."`

	RefuseInvalidResults bool `json:"refuse_invalid_results" doc:"Whether a result that does not match its tool's output schema becomes an error for agents."`
	TokenExchange        bool `json:"token_exchange" doc:"Whether connectors may get tokens by token exchange: an authorization server of an owner's choice learns of members and agents."`

	CallsPerMinute    int `json:"calls_per_minute" doc:"The owner's limit on calls of all agents together. 0: the operator's limit."`
	CallsPerDay       int `json:"calls_per_day" doc:"Likewise, per UTC day."`
	MaxCallsPerMinute int `json:"most_calls_per_minute" doc:"The operator's limit. 0: no limit. The lower of the two applies."`
	MaxCallsPerDay    int `json:"most_calls_per_day" doc:"Likewise."`

	DownAfterFailures int `json:"down_after_failures" doc:"Consecutive failed syncs before a connector counts as down."`
	DownAfterMinutes  int `json:"down_after_minutes" doc:"Minutes after the first failure before the next one makes a connector down."`

	Defaults tenantDefaultsJSON `json:"defaults" doc:"Defaults for new agents and connectors. Existing ones are not changed."`
}

// tenantPatch changes the tenant's settings.
type tenantPatch struct {
	Name             *string `json:"name,omitempty"`
	CallHistory      *string `json:"call_history,omitempty" enum:"none,redacted,full"`
	BodyReaders      *string `json:"body_readers,omitempty" enum:"everyone,auditors"`
	ApprovalTimeoutS *int    `json:"approval_timeout_s,omitempty" minimum:"1" maximum:"86400"`
	HistoryDays      *int    `json:"history_days,omitempty" minimum:"0" maximum:"3650" doc:"From 30 to the installation's limit (default: 90). 0: the limit."`

	SecondFactorRequired *bool `json:"second_factor_required,omitempty"`
	RefuseInvalidResults *bool `json:"refuse_invalid_results,omitempty"`
	TokenExchange        *bool `json:"token_exchange,omitempty" doc:"Turning it off deletes accounts from token exchange and the signing keys. Turned on again, a new key signs."`

	CallsPerMinute *int `json:"calls_per_minute,omitempty" minimum:"0" maximum:"1000000" doc:"At most most_calls_per_minute, if set. 0: that limit."`
	CallsPerDay    *int `json:"calls_per_day,omitempty" minimum:"0" maximum:"1000000000" doc:"Likewise."`

	DownAfterFailures *int `json:"down_after_failures,omitempty" minimum:"1" maximum:"100"`
	DownAfterMinutes  *int `json:"down_after_minutes,omitempty" minimum:"1" maximum:"10080"`

	Defaults *tenantDefaultsPatch `json:"defaults,omitempty" doc:"Defaults for new agents and connectors. Existing ones are not changed."`
}

func (p tenantPatch) toChange() auth.TenantChange {
	c := auth.TenantChange{
		Name: p.Name, HistoryDays: p.HistoryDays, SecondFactorRequired: p.SecondFactorRequired, CallsPerMinute: p.CallsPerMinute, CallsPerDay: p.CallsPerDay,
		DownAfterFailures: p.DownAfterFailures, DownAfterMinutes: p.DownAfterMinutes, RefuseInvalidResults: p.RefuseInvalidResults,
		TokenExchange: p.TokenExchange,
	}
	if p.CallHistory != nil {
		history := connectors.CallHistory(*p.CallHistory)
		c.CallHistory = &history
	}
	if p.BodyReaders != nil {
		c.BodyReaders = new(connectors.BodyReaders(*p.BodyReaders))
	}
	if p.ApprovalTimeoutS != nil {
		timeout := time.Duration(*p.ApprovalTimeoutS) * time.Second
		c.ApprovalTimeout = &timeout
	}
	if p.Defaults != nil {
		c.Defaults = p.Defaults.toChange()
	}
	return c
}

func viewTenant(t connectors.Tenant, retentionDays int, since *time.Time) tenantJSON {
	return tenantJSON{
		ID:        t.ID.String(),
		Slug:      t.Slug,
		Name:      t.Name,
		CreatedAt: t.CreatedAt.UTC(),
		UpdatedAt: t.UpdatedAt.UTC(),

		CallHistory:      string(t.CallHistory),
		BodyReaders:      string(t.BodyReaders),
		ApprovalTimeoutS: int(t.ApprovalTimeout / time.Second),

		HistoryDays:     t.HistoryDays,
		HistoryDaysKept: retentionDays,
		HistorySince:    since,

		SecondFactorRequired: t.SecondFactorRequired,
		RefuseInvalidResults: t.RefuseInvalidResults,
		TokenExchange:        t.TokenExchange,

		CallsPerMinute:    t.Quota.PerMinute,
		CallsPerDay:       t.Quota.PerDay,
		MaxCallsPerMinute: t.MaxQuota.PerMinute,
		MaxCallsPerDay:    t.MaxQuota.PerDay,

		DownAfterFailures: t.DownAfter.Failures,
		DownAfterMinutes:  t.DownAfter.Minutes,

		Defaults: viewDefaults(t.Defaults),
	}
}

func (h *Handler) mountTenant() {
	const tag = "Tenant"
	registerOperation(h, operation{
		method: http.MethodGet, path: "/api/v1/tenant", id: "getTenant", tag: tag,
		summary: "Get the tenant's settings", permission: connectors.PermOwn,
	}, h.getTenant)
	registerOperation(h, operation{
		method: http.MethodPatch, path: "/api/v1/tenant", id: "updateTenant", tag: tag,
		summary: "Update the tenant's settings", permission: connectors.PermOwn,
	}, h.updateTenant)
	registerOperation(h, operation{
		method: http.MethodGet, path: "/api/v1/tenant/sealing_keys", id: "getSealingKeys", tag: tag,
		summary: "Get the state of the tenant's encryption keys", permission: connectors.PermOwn,
	}, h.getSealingKeys)
	registerOperation(h, operation{
		method: http.MethodGet, path: "/api/v1/installation", id: "getInstallation", tag: tag,
		summary: "Get the installation's version and addresses", permission: connectors.PermOwn,
	}, h.getInstallation)
}

func (h *Handler) getTenant(ctx context.Context, actor auth.Actor, _ *struct{}) (*response[tenantJSON], error) {
	t, err := h.store.Tenant(actor.Tenant.ID).Self(ctx)
	if err != nil {
		return nil, err
	}
	since, err := h.auth.HistorySince(ctx, t)
	if err != nil {
		return nil, err
	}
	return &response[tenantJSON]{Body: viewTenant(t, h.auth.HistoryDaysFor(t), since)}, nil
}

func (h *Handler) updateTenant(ctx context.Context, actor auth.Actor, in *struct{ JSON requestBody[tenantPatch] }) (*response[tenantJSON], error) {
	patch, err := in.JSON.readJSON()
	if err != nil {
		return nil, err
	}
	if err := h.auth.ChangeTenant(ctx, actor, patch.toChange()); err != nil {
		return nil, err
	}
	return h.getTenant(ctx, actor, nil)
}
