// Package queue defines the background jobs, inserts them in the caller's transaction, and counts them: a job exists
// exactly if its rows do.
//
//	SyncTools        one queued sync run
//	SyncDue          the due connectors in one shard of the tenants
//	DeliverWebhook   one delivery to a webhook
//	others           periodic upkeep (upkeep.go)
//
// A tenant's jobs go to one of [Count] queues, chosen by its id. Each queue has its own workers, so that a
// tenant with many jobs fills only its own queue. Package jobs has the workers.
package queue
