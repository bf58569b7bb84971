package registry

import (
	"context"
	"errors"

	"patchbay/internal/auth"
	"patchbay/internal/store"
)

// errRehearsed ends a transaction that must leave nothing behind.
var errRehearsed = errors.New("registry: rehearsed")

// rehearsing returns a registry that tries every order and stores none: what it answers is what the database would have said.
func (r *Registry) rehearsing() *Registry {
	again := *r
	again.rehearsal = true
	return &again
}

// tx runs an order's one transaction.
func (r *Registry) tx(ctx context.Context, a auth.Actor, order func(tx *store.Tenant) error) error {
	err := r.store.Tenant(a.Tenant.ID).Tx(ctx, func(tx *store.Tenant) error {
		if err := order(tx); err != nil {
			return err
		}
		if r.rehearsal {
			return errRehearsed
		}
		return nil
	})
	if errors.Is(err, errRehearsed) {
		return nil
	}
	return err
}
