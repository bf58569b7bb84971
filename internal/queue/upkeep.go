package queue

import (
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"
)

// Upkeep is the queue of what keeps the house in order, which may take its time: nothing that anybody waits for stands behind it.
const Upkeep = "upkeep"

// SweepHistory forgets history that is older than its tenants keep it.
type SweepHistory struct{}

// Kind is the job's name in the database; a landed name is never changed.
func (SweepHistory) Kind() string { return "sweep_history" }

// InsertOpts makes it the only one.
func (SweepHistory) InsertOpts() river.InsertOpts { return onlyOne() }

// SweepLeftovers forgets what was begun and never ended.
type SweepLeftovers struct{}

// Kind is the job's name in the database; a landed name is never changed.
func (SweepLeftovers) Kind() string { return "sweep_leftovers" }

// InsertOpts makes it the only one.
func (SweepLeftovers) InsertOpts() river.InsertOpts { return onlyOne() }

// RenewIdle renews accounts that nobody uses.
type RenewIdle struct{}

// Kind is the job's name in the database; a landed name is never changed.
func (RenewIdle) Kind() string { return "renew_idle" }

// InsertOpts makes it the only one.
func (RenewIdle) InsertOpts() river.InsertOpts { return onlyOne() }

// CheckAudit computes the audit chains of all tenants anew.
type CheckAudit struct{}

// Kind is the job's name in the database; a landed name is never changed.
func (CheckAudit) Kind() string { return "check_audit" }

// InsertOpts makes it the only one.
func (CheckAudit) InsertOpts() river.InsertOpts { return onlyOne() }

// KeepAudit makes the coming months of the audit log.
type KeepAudit struct{}

// Kind is the job's name in the database; a landed name is never changed.
func (KeepAudit) Kind() string { return "keep_audit" }

// InsertOpts makes it the only one.
func (KeepAudit) InsertOpts() river.InsertOpts { return onlyOne() }

// TellLocks puts on record which accounts were locked.
type TellLocks struct{}

// Kind is the job's name in the database; a landed name is never changed.
func (TellLocks) Kind() string { return "tell_locks" }

// InsertOpts makes it the only one.
func (TellLocks) InsertOpts() river.InsertOpts { return onlyOne() }

// onlyOne has no second job wait or run beside one, and tries it a few times: the next one may be hours away.
func onlyOne() river.InsertOpts {
	return river.InsertOpts{Queue: Upkeep, MaxAttempts: 3, UniqueOpts: river.UniqueOpts{
		ByState: []rivertype.JobState{
			rivertype.JobStateAvailable, rivertype.JobStatePending, rivertype.JobStateRunning, rivertype.JobStateRetryable, rivertype.JobStateScheduled,
		},
	}}
}

// RevokeDeleted revokes accounts whose credentials were deleted.
type RevokeDeleted struct{}

// Kind is the job's name in the database; a landed name is never changed.
func (RevokeDeleted) Kind() string { return "revoke_deleted" }

// InsertOpts makes it the only one.
func (RevokeDeleted) InsertOpts() river.InsertOpts { return onlyOne() }
