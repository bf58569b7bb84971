// Package jobs works the background jobs. It has no rules of its own: it calls what the product does.
//
//	SyncTools   → SyncToolsWorker → toolsync.Sync with the queued run
//	SweepDue    → SweepDueWorker  → store.System.QueueDue: every ten seconds, what is due by its interval becomes queued runs
//
// A job is a nudge, its run's row is the truth: the worker performs a run that is still queued, and leaves any other alone, so
// that a job may come twice. That a server fails is written to the row and is no failure of the job; only our own mishaps
// (the database is away) are tried again. Where another sync of the connector is under way, the queued one waits its turn.
//
// Fairness has two parts: a tenant's jobs go to one of 16 queues (package queue) and take at most [perQueue] places there; all
// of a process's syncs together take at most [atOnce].
package jobs
