// Package jobs works the background jobs. It has no rules of its own: it calls what the product does.
//
//	SyncTools   → SyncToolsWorker → toolsync.Sync with the queued run
//	SyncDue     → SyncDueWorker   → toolsync.SyncDue: claims what is due, and begins it
//	clock       each second       → toolsync.SyncFew, where little is due; where much is, SyncDue jobs
//	comeback    each second       → jobs that were given back for a moment are announced, while there are some
//	tender      each 20 s         → jobs of dead processes are free again, of every kind; queued runs that lost theirs get new ones
//	DeliverWebhook → DeliverWebhookWorker → webhooks.Deliver, which says when to come again
//	TendWebhooks, TendNotices             → deliveries whose jobs are lost; accounts that lapse; what is too old
//	SweepHistory, SweepLeftovers           → retention.Sweep; what was begun and never ended
//	RenewIdle                              → credentials.RenewIdle
//
// A queued run's job is a nudge, its row is the truth: the worker performs a run that is still queued, and leaves any other alone, so
// that a job may come twice. One that was begun and cut off by the end of its process is performed anew, as another run. That a server fails
// is written to the row and is no failure of the job; only our own mishaps (the database is away) are tried again. Where another sync of the connector is under way, the queued one waits its turn.
// A job of the clock is a nudge, too; the truth is the claim (docs/adr/0008-the-clock.md).
//
// Fairness of what somebody asked for has three parts: a tenant's jobs go to one of 16 queues (package queue); there the first few that a
// tenant has waiting come before the many of another (queue.OfMany); and it has at most [perTenant] syncs under way in a process, all
// together [atOnce]: a job that finds no place goes back, and comes when its turn may have come. That of the schedule is in the claims.
package jobs
