package store

import (
	"context"

	"patchbay/internal/connectors"
	"patchbay/internal/queue"
	"patchbay/internal/store/dbgen"
)

// System is the entry point across tenants, for identifying callers and for rows of no tenant. [Store.System]
// makes it.
type System struct{ *system }

// system is what the parts of System share.
type system struct {
	scope scope
	q     *dbgen.Queries
	jobs  *queue.Inserter
	keys  *liveKeyring
}

func newSystem(s scope, jobs *queue.Inserter, keys *liveKeyring) *System {
	return &System{&system{scope: s, q: dbgen.New(s), jobs: jobs, keys: keys}}
}

// tenantInTx returns a tenant's entry point in the same transaction, for the audit log.
func (s *system) tenantInTx(id connectors.TenantID) *Tenant {
	return newTenant(&Store{keyring: s.keys, jobs: s.jobs, answers: newAnswerCounts()}, id, s.scope)
}

func (s *system) inTx(ctx context.Context, fn func(inTx *System) error) error {
	return s.scope.inTx(ctx, func(sc scope) error { return fn(newSystem(sc, s.jobs, s.keys)) })
}
