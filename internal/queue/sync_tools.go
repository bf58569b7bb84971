package queue

import (
	"github.com/google/uuid"
	"github.com/riverqueue/river"
)

// Few is how many runs of a tenant wait before those of the other tenants' many; OfMany is the priority of the others, River's last.
const (
	Few    = 8
	OfMany = 4
)

// SyncTools asks for one queued sync run to be performed.
type SyncTools struct {
	TenantID    uuid.UUID `json:"tenant_id"`
	ConnectorID uuid.UUID `json:"connector_id"`
	SyncRunID   uuid.UUID `json:"sync_run_id"`
	OfMany      bool      `json:"-"` // its tenant has more than Few waiting before it
}

// Kind is the job's name in the database.
func (SyncTools) Kind() string { return "sync_tools" }

// InsertOpts chooses the tenant's queue. The failure of a server is no failure of its job (the run's row records it), so that
// the attempts are for our own mishaps alone: a database that is away for a while.
func (j SyncTools) InsertOpts() river.InsertOpts {
	priority := 1
	if j.OfMany {
		priority = OfMany
	}
	return river.InsertOpts{Queue: For(j.TenantID), MaxAttempts: 5, Priority: priority}
}
