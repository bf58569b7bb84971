package manage

import (
	"context"
	"time"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/store"
)

// ResetUsage sets the start of the usage figures to now and returns it. It deletes nothing.
func (r *Registry) ResetUsage(ctx context.Context, a auth.Actor, now time.Time) (time.Time, error) {
	if err := a.Require(connectors.PermManage); err != nil {
		return time.Time{}, err
	}
	now = now.UTC().Truncate(time.Microsecond)
	err := r.store.Tenant(a.Tenant.ID).Tx(ctx, func(tx *store.Tenant) error {
		before, err := tx.State(ctx, store.OfUsageMark())
		if err != nil {
			return err
		}
		if err := tx.Calls().MarkUsage(ctx, now); err != nil {
			return err
		}
		return tx.RecordChange(ctx, a.Event("usage.reset", a.Tenant.Slug), before, store.OfUsageMark())
	})
	return now, err
}
