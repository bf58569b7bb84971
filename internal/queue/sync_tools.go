package queue

import (
	"github.com/google/uuid"
	"github.com/riverqueue/river"
)

// Few is the number of a tenant's waiting runs with priority 1. Further ones have priority OfMany, River's
// lowest.
const (
	Few    = 8
	OfMany = 4
)

// SyncTools performs one queued sync run.
type SyncTools struct {
	TenantID    uuid.UUID `json:"tenant_id"`
	ConnectorID uuid.UUID `json:"connector_id"`
	SyncRunID   uuid.UUID `json:"sync_run_id"`
	OfMany      bool      `json:"-"` // more than Few runs of the tenant wait before it
}

// Kind is stored in the database and never changes.
func (SyncTools) Kind() string { return "sync_tools" }

// InsertOpts chooses the tenant's queue. A server's failure does not fail the job (the run's row records it),
// so the attempts count our own failures.
func (j SyncTools) InsertOpts() river.InsertOpts {
	priority := 1
	if j.OfMany {
		priority = OfMany
	}
	return river.InsertOpts{Queue: For(j.TenantID), MaxAttempts: 5, Priority: priority}
}
