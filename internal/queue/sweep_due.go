package queue

import "github.com/riverqueue/river"

// Sweeps is the queue of the one job that looks what is due. It is apart from the tenants' queues, so that none of them delays it.
const Sweeps = "sweeps"

// SweepDue looks which connectors are due for a sync by their interval, and queues them.
type SweepDue struct{}

// Kind names the job in the database; a landed name is never changed.
func (SweepDue) Kind() string { return "sweep_due" }

// InsertOpts makes it one try: the next one comes by itself.
func (SweepDue) InsertOpts() river.InsertOpts {
	return river.InsertOpts{Queue: Sweeps, MaxAttempts: 1}
}
