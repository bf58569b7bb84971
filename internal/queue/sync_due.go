package queue

import "github.com/riverqueue/river"

// Due is the queue of the jobs that sync what is due. It is apart from the tenants' queues: such a job holds no conversation, and
// whose turn it is the claims decide.
const Due = "due"

// AllShards is the shard of a job that looks at all of them: there is little to do.
const AllShards = -1

// SyncDue has a process sync the connectors of a shard that are due, as many as it has room for.
type SyncDue struct {
	Shard int `json:"shard"` // 0 to Count-1, or AllShards
}

// Kind is the job's name in the database.
func (SyncDue) Kind() string { return "sync_due" }

// InsertOpts makes it one try: what is due and was not claimed has another job a second later.
func (SyncDue) InsertOpts() river.InsertOpts {
	return river.InsertOpts{Queue: Due, MaxAttempts: 1}
}
