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

	CallHistory      string `json:"call_history" enum:"none,redacted,full" doc:"What the history keeps of arguments and results."`
	BodyReaders      string `json:"body_readers" enum:"everyone,auditors" doc:"Who reads what is kept of arguments and results: everyone who sees the call, or auditors alone, each of whose readings is put on record."`
	ApprovalTimeoutS int    `json:"approval_timeout_s" doc:"How long a call waits for a person, before its agent is told to come back."`

	HistoryDays     int        `json:"history_days" doc:"How many days of history the tenant chose to keep; 0: as many as the installation keeps."`
	HistoryDaysKept int        `json:"history_days_kept" doc:"How many days of history are kept: calls, sync runs, decided changes of tools."`
	HistorySince    *time.Time `json:"history_since" doc:"From when there is history; null: there is none yet."`

	SecondFactorRequired bool `json:"second_factor_required" doc:"Whether members set up a second factor before anything else of the tenant opens in their browsers. Whoever comes by single sign-on is asked by the provider instead."`

	RefuseInvalidResults bool `json:"refuse_invalid_results" doc:"Whether agents get an error instead of a result that does not fit its tool's output schema."`

	CallsPerMinute    int `json:"calls_per_minute" doc:"How many tools all its agents together may call, as its owner set it; 0: as many as the operator allows."`
	CallsPerDay       int `json:"calls_per_day" doc:"Likewise, from midnight to midnight, UTC."`
	MaxCallsPerMinute int `json:"most_calls_per_minute" doc:"The operator's limit; 0: not bounded. The lower of the two applies."`
	MaxCallsPerDay    int `json:"most_calls_per_day" doc:"Likewise."`

	DownAfterFailures int `json:"down_after_failures" doc:"Failed syncs in a row after which a connector is down."`
	DownAfterMinutes  int `json:"down_after_minutes" doc:"Minutes after the first failure; the next failure then makes a connector down."`

	Defaults tenantDefaultsJSON `json:"defaults" doc:"What new agents and connectors begin with. Those that are there keep what they have."`
}

// tenantPatch changes the tenant's settings.
type tenantPatch struct {
	Name             *string `json:"name,omitempty"`
	CallHistory      *string `json:"call_history,omitempty" enum:"none,redacted,full"`
	BodyReaders      *string `json:"body_readers,omitempty" enum:"everyone,auditors"`
	ApprovalTimeoutS *int    `json:"approval_timeout_s,omitempty" minimum:"1" maximum:"86400"`
	HistoryDays      *int    `json:"history_days,omitempty" minimum:"0" maximum:"3650" doc:"From 30 to what the installation keeps (90, where its operator does not say otherwise); 0: as many as that."`

	SecondFactorRequired *bool `json:"second_factor_required,omitempty"`
	RefuseInvalidResults *bool `json:"refuse_invalid_results,omitempty"`

	CallsPerMinute *int `json:"calls_per_minute,omitempty" minimum:"0" maximum:"1000000" doc:"At most most_calls_per_minute, where there is such a bound; 0: as many as that."`
	CallsPerDay    *int `json:"calls_per_day,omitempty" minimum:"0" maximum:"1000000000" doc:"Likewise."`

	DownAfterFailures *int `json:"down_after_failures,omitempty" minimum:"1" maximum:"100"`
	DownAfterMinutes  *int `json:"down_after_minutes,omitempty" minimum:"1" maximum:"10080"`

	Defaults *tenantDefaultsPatch `json:"defaults,omitempty" doc:"Defaults of new agents and connectors. Existing ones keep their values."`
}

func (p tenantPatch) toChange() auth.TenantChange {
	c := auth.TenantChange{
		Name: p.Name, HistoryDays: p.HistoryDays, SecondFactorRequired: p.SecondFactorRequired, CallsPerMinute: p.CallsPerMinute, CallsPerDay: p.CallsPerDay,
		DownAfterFailures: p.DownAfterFailures, DownAfterMinutes: p.DownAfterMinutes, RefuseInvalidResults: p.RefuseInvalidResults,
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
		summary: "Read the tenant's settings", permission: connectors.PermOwn,
	}, h.getTenant)
	registerOperation(h, operation{
		method: http.MethodPatch, path: "/api/v1/tenant", id: "updateTenant", tag: tag,
		summary: "Change the tenant's settings", permission: connectors.PermOwn,
	}, h.updateTenant)
	registerOperation(h, operation{
		method: http.MethodGet, path: "/api/v1/tenant/sealing_keys", id: "getSealingKeys", tag: tag,
		summary: "Read how the keys are that seal secrets, by their public ids", permission: connectors.PermOwn,
	}, h.getSealingKeys)
	registerOperation(h, operation{
		method: http.MethodGet, path: "/api/v1/installation", id: "getInstallation", tag: tag,
		summary: "Read the version and the addresses of this Patchbay", permission: connectors.PermOwn,
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
