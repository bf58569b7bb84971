// Package queue names the background jobs and puts them into the database, inside the caller's transaction: a job exists
// exactly if the rows that it is about do.
//
//	SyncTools   one queued sync run; worked by package jobs
//	SyncDue     whatever is due in one shard of the tenants
//	DeliverWebhook   one delivery to a webhook
//
// A tenant's jobs always go to the same one of [Count] queues, chosen by its id. Each queue has workers of its own, so that a
// tenant with many jobs keeps only its own queue busy.
//
// This package does not work the jobs, and it decides nothing: what a job does stands in package jobs.
package queue
