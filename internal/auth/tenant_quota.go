package auth

import (
	"context"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/store"
)

// setQuota sets the tenant's own call quota. The operator's limit is read in the same transaction.
func setQuota(ctx context.Context, tx *store.Tenant, a Actor, before connectors.Tenant, c TenantChange) error {
	now := before.Quota
	setIfGiven(&now.PerMinute, c.CallsPerMinute)
	setIfGiven(&now.PerDay, c.CallsPerDay)
	if now == before.Quota {
		return nil
	}
	if err := fault.InvalidFields(append(now.Validate(""), newlyAbove(before, now)...)...); err != nil {
		return err
	}
	return changeTenant(ctx, tx, a.Event("tenant.set_quota", before.Slug), func() error { return tx.Calls().SetQuota(ctx, now) })
}

// newlyAbove returns the fields that were changed to above the operator's limit. Older values above it may stay
// without effect.
func newlyAbove(before connectors.Tenant, now connectors.Quota) []fault.Field {
	if now.PerMinute == before.Quota.PerMinute {
		now.PerMinute = 0
	}
	if now.PerDay == before.Quota.PerDay {
		now.PerDay = 0
	}
	return now.Within(before.MaxQuota)
}

// LimitTenant sets the operator's limit of a tenant's tool calls.
func (s *Service) LimitTenant(ctx context.Context, a Actor, most connectors.Quota) error {
	if a.Kind != KindOperator {
		return fault.Errorf(fault.Denied, "The operator sets the organisation's call limits.")
	}
	if err := fault.InvalidFields(most.Validate("")...); err != nil {
		return err
	}
	return s.store.Tenant(a.Tenant.ID).Tx(ctx, func(tx *store.Tenant) error {
		return changeTenant(ctx, tx, a.Event("tenant.limit", a.Tenant.Slug), func() error { return tx.Calls().SetOperatorQuota(ctx, most) })
	})
}
