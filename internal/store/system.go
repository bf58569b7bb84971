package store

import (
	"context"

	"patchbay/internal/connectors"
	"patchbay/internal/queue"
	"patchbay/internal/store/dbgen"
)

// System is the door across tenants: for finding out who is calling, and for what belongs to no tenant. It is made by
// [Store.System].
type System struct {
	scope scope
	q     *dbgen.Queries
	jobs  *queue.Inserter
	keys  *ring
}

func newSystem(s scope, jobs *queue.Inserter, keys *ring) *System {
	return &System{scope: s, q: dbgen.New(s), jobs: jobs, keys: keys}
}

// tenant is the door to a tenant in the same transaction, for the audit log.
func (s *System) tenant(id connectors.TenantID) *Tenant {
	return newTenant(&Store{keyring: s.keys, jobs: s.jobs}, id, s.scope)
}

func (s *System) tx(ctx context.Context, fn func(tx *System) error) error {
	return s.scope.inTx(ctx, func(sc scope) error { return fn(newSystem(sc, s.jobs, s.keys)) })
}
