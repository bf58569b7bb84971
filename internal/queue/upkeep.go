package queue

import (
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"
)

// Upkeep is the queue of periodic maintenance, which no request waits for.
const Upkeep = "upkeep"

// SweepHistory deletes history past its retention.
type SweepHistory struct{}

// Kind is stored in the database and never changes.
func (SweepHistory) Kind() string { return "sweep_history" }

// InsertOpts makes the job unique.
func (SweepHistory) InsertOpts() river.InsertOpts { return onlyOne() }

// SweepExpired deletes what was begun and never finished.
type SweepExpired struct{}

// Kind is stored in the database and never changes.
func (SweepExpired) Kind() string { return "sweep_leftovers" }

// InsertOpts makes the job unique.
func (SweepExpired) InsertOpts() river.InsertOpts { return onlyOne() }

// RenewIdle refreshes the tokens of unused accounts.
type RenewIdle struct{}

// Kind is stored in the database and never changes.
func (RenewIdle) Kind() string { return "renew_idle" }

// InsertOpts makes the job unique.
func (RenewIdle) InsertOpts() river.InsertOpts { return onlyOne() }

// CheckAudit verifies the audit chains of all tenants.
type CheckAudit struct{}

// Kind is stored in the database and never changes.
func (CheckAudit) Kind() string { return "check_audit" }

// InsertOpts makes the job unique.
func (CheckAudit) InsertOpts() river.InsertOpts { return onlyOne() }

// CreateAuditMonths creates the audit log's partitions of the coming months.
type CreateAuditMonths struct{}

// Kind is stored in the database and never changes.
func (CreateAuditMonths) Kind() string { return "keep_audit" }

// InsertOpts makes the job unique.
func (CreateAuditMonths) InsertOpts() river.InsertOpts { return onlyOne() }

// RecordLocks audits which accounts were locked.
type RecordLocks struct{}

// Kind is stored in the database and never changes.
func (RecordLocks) Kind() string { return "tell_locks" }

// InsertOpts makes the job unique.
func (RecordLocks) InsertOpts() river.InsertOpts { return onlyOne() }

// onlyOne excludes a second waiting or running job and allows three attempts, for the next job may be hours
// away.
func onlyOne() river.InsertOpts {
	return river.InsertOpts{Queue: Upkeep, MaxAttempts: 3, UniqueOpts: river.UniqueOpts{
		ByState: []rivertype.JobState{
			rivertype.JobStateAvailable, rivertype.JobStatePending, rivertype.JobStateRunning, rivertype.JobStateRetryable, rivertype.JobStateScheduled,
		},
	}}
}

// RevokeDeleted revokes accounts with deleted credentials.
type RevokeDeleted struct{}

// Kind is stored in the database and never changes.
func (RevokeDeleted) Kind() string { return "revoke_deleted" }

// InsertOpts makes the job unique.
func (RevokeDeleted) InsertOpts() river.InsertOpts { return onlyOne() }
