package queue

import "github.com/riverqueue/river"

// Due is the queue of SyncDue jobs. It is separate from the tenants' queues: the jobs are short, and claims
// decide the order of connectors.
const Due = "due"

// AllShards is the shard of a job for all shards, inserted when little is due.
const AllShards = -1

// SyncDue starts the due syncs of a shard, as many as the process has slots for.
type SyncDue struct {
	Shard int `json:"shard"` // 0 to Count-1, or AllShards
}

// Kind is stored in the database and never changes.
func (SyncDue) Kind() string { return "sync_due" }

// InsertOpts allows one attempt: a second later there is another job.
func (SyncDue) InsertOpts() river.InsertOpts {
	return river.InsertOpts{Queue: Due, MaxAttempts: 1}
}
