// Package jobs works the background jobs with River. It has no rules of its own: it calls the product's use
// cases.
//
//	SyncTools        → SyncToolsWorker → toolsync.Sync with the queued run
//	SyncDue          → SyncDueWorker → toolsync.SyncDue, which claims and starts due syncs
//	DeliverWebhook   → DeliverWebhookWorker → webhooks.Deliver, which returns the delay of the next try
//	SweepHistory     → retention.Sweep; RenewIdle → credentials.RefreshIdle; others in maintenance.go
//
// Each process also has three loops:
//
//	clock            each second: toolsync.SyncDueOnce if little is due, else SyncDue jobs (clock.go)
//	snoozeNotifier   each second while jobs are snoozed: announces their return (snooze_notifier.go)
//	jobRescuer       each 20 s: frees jobs of dead processes and replaces lost jobs of queued runs (rescuer.go, dead_jobs.go)
//
// A queued run's job only wakes a worker; the run's row holds the state. The worker performs a run that is
// still queued and ignores others, so a job may run twice. A run interrupted with its process is restarted as
// another run. A server's failure is stored in the row and does not fail the job; only our own failures are
// retried. The clock's jobs wake a process too; the claim holds the state (docs/adr/0008-the-clock.md).
//
// Requested syncs are fair in three ways: a tenant's jobs go to one of 16 queues (package queue); its first few
// waiting jobs precede another tenant's many (queue.OfMany); it has at most maxTenantSyncs of a process's
// maxSyncs slots, and a job without a slot is snoozed (slots.go). Claims are fair among tenants by themselves.
package jobs
