package store

import (
	"context"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/store/dbgen"
)

// MaxQuotaUses bounds the rows of [Calls.QuotaUses].
const MaxQuotaUses = 500

func toQuota(perMinute, perDay int32) connectors.Quota {
	return connectors.Quota{PerMinute: int(perMinute), PerDay: int(perDay)}
}

// SetQuota sets the tenant's own call quota, below the operator's limit.
func (t Calls) SetQuota(ctx context.Context, q connectors.Quota) error {
	n, err := t.q.SetTenantQuota(ctx, int32(q.PerMinute), int32(q.PerDay), t.id)
	return t.notifyChange(affectedError(n, err, "tenant"), "tenant", t.id)
}

// SetOperatorQuota sets the operator's limit for the tenant.
func (t Calls) SetOperatorQuota(ctx context.Context, most connectors.Quota) error {
	n, err := t.q.SetOperatorQuota(ctx, int32(most.PerMinute), int32(most.PerDay), t.id)
	return t.notifyChange(affectedError(n, err, "tenant"), "tenant", t.id)
}

// QuotaUses returns the use of quotas on the day of a time, the tenant's included, exceeded ones first; at most
// [MaxQuotaUses]. Unused quotas are left out.
func (t Calls) QuotaUses(ctx context.Context, at time.Time) ([]connectors.QuotaUse, error) {
	rows, err := t.q.QuotaUses(ctx, dbgen.QuotaUsesParams{TenantID: t.id, Day: connectors.QuotaDay(at), MaxRows: MaxQuotaUses})
	return mapRows(rows, toQuotaUse), err
}

// ToolQuotaUse returns the use of a tool's quota on the day of a time.
func (t Calls) ToolQuotaUse(ctx context.Context, c connectors.ConnectorID, tool string, at time.Time) (connectors.QuotaUse, error) {
	rows, err := t.q.QuotaUses(ctx, dbgen.QuotaUsesParams{TenantID: t.id, Day: connectors.QuotaDay(at), Connector: &c.UUID, Tool: tool, MaxRows: 1})
	if err != nil || len(rows) == 0 {
		return connectors.QuotaUse{ConnectorID: c, Tool: tool}, err
	}
	return toQuotaUse(rows[0]), nil
}

func toQuotaUse(r dbgen.QuotaUsesRow) connectors.QuotaUse {
	return connectors.QuotaUse{
		ConnectorID: r.ConnectorID, ConnectorSlug: r.ConnectorSlug, Tool: r.Tool, Quota: toQuota(r.CallsPerMinute, r.CallsPerDay),
		Calls: int(r.Calls), OverMinute: int(r.OverMinute), OverDay: int(r.OverDay),
	}
}
