package queue

import (
	"github.com/google/uuid"
	"github.com/riverqueue/river"
)

// SyncTools asks for one queued sync run to be performed.
type SyncTools struct {
	TenantID    uuid.UUID `json:"tenant_id"`
	ConnectorID uuid.UUID `json:"connector_id"`
	SyncRunID   uuid.UUID `json:"sync_run_id"`
}

// Kind is the job's name in the database.
func (SyncTools) Kind() string { return "sync_tools" }

// InsertOpts chooses the tenant's queue. The failure of a server is no failure of its job (the run's row records it), so that
// the attempts are for our own mishaps alone: a database that is away for a while.
func (j SyncTools) InsertOpts() river.InsertOpts {
	return river.InsertOpts{Queue: For(j.TenantID), MaxAttempts: 5}
}
