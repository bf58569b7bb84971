package store

import (
	"context"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/store/dbgen"
)

// MostQuotaUses bounds how many quotas are told of at once.
const MostQuotaUses = 500

func quotaOf(perMinute, perDay int32) connectors.Quota {
	return connectors.Quota{PerMinute: int(perMinute), PerDay: int(perDay)}
}

// SetQuota says how many tools the tenant's agents may call, below what the operator allows.
func (t *Tenant) SetQuota(ctx context.Context, q connectors.Quota) error {
	n, err := t.q.SetTenantQuota(ctx, int32(q.PerMinute), int32(q.PerDay), t.id)
	return t.says(touched(n, err, "tenant"), "tenant", t.id)
}

// Limit says what the operator allows the tenant.
func (t *Tenant) Limit(ctx context.Context, most connectors.Quota) error {
	n, err := t.q.LimitTenant(ctx, int32(most.PerMinute), int32(most.PerDay), t.id)
	return t.says(touched(n, err, "tenant"), "tenant", t.id)
}

// QuotaUses are what was used of the tenant's quotas on the day of a time, its own among them: those that were hit first, and
// [MostQuotaUses] at most. What was not called that day is not among them.
func (t *Tenant) QuotaUses(ctx context.Context, at time.Time) ([]connectors.QuotaUse, error) {
	rows, err := t.q.QuotaUses(ctx, dbgen.QuotaUsesParams{TenantID: t.id, Day: connectors.QuotaDay(at), MaxRows: MostQuotaUses})
	return each(rows, quotaUseOf), err
}

// ToolQuotaUse is what was used of a tool's quota on the day of a time.
func (t *Tenant) ToolQuotaUse(ctx context.Context, c connectors.ConnectorID, tool string, at time.Time) (connectors.QuotaUse, error) {
	rows, err := t.q.QuotaUses(ctx, dbgen.QuotaUsesParams{TenantID: t.id, Day: connectors.QuotaDay(at), Connector: &c.UUID, Tool: tool, MaxRows: 1})
	if err != nil || len(rows) == 0 {
		return connectors.QuotaUse{ConnectorID: c, Tool: tool}, err
	}
	return quotaUseOf(rows[0]), nil
}

func quotaUseOf(r dbgen.QuotaUsesRow) connectors.QuotaUse {
	return connectors.QuotaUse{
		ConnectorID: r.ConnectorID, ConnectorSlug: r.ConnectorSlug, Tool: r.Tool, Quota: quotaOf(r.CallsPerMinute, r.CallsPerDay),
		Calls: int(r.Calls), OverMinute: int(r.OverMinute), OverDay: int(r.OverDay),
	}
}
