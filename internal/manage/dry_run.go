package manage

import (
	"context"
	"errors"

	"patchbay/internal/auth"
	"patchbay/internal/store"
)

// errDryRun rolls a transaction back.
var errDryRun = errors.New("registry: rehearsed")

// newDryRun returns a copy that executes each operation and rolls it back, so that it reports the database's
// own errors.
func (r *Registry) newDryRun() *Registry {
	again := *r
	again.isDryRun = true
	return &again
}

// tx runs an operation's transaction.
func (r *Registry) tx(ctx context.Context, a auth.Actor, order func(tx *store.Tenant) error) error {
	err := r.store.Tenant(a.Tenant.ID).Tx(ctx, func(tx *store.Tenant) error {
		if err := order(tx); err != nil {
			return err
		}
		if r.isDryRun {
			return errDryRun
		}
		return nil
	})
	if errors.Is(err, errDryRun) {
		return nil
	}
	return err
}
