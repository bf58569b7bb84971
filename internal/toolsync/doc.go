// Package toolsync performs sync runs: it reads a connector's tools from its server and stores what differs.
//
// [Syncer.Sync] goes in this order:
//
//  1. load the connector; a disabled one is not synced
//  2. start the run in the database: two never run at the same time, on any replica
//  3. choose whose credential is tried, and in which order (plan.go)
//  4. talk: handshake and list, bounded in time and bytes, with no transaction open; a token that is refused is renewed, once
//     (renew.go). Then, where the server says that it has them, its prompts and resources (items.go)
//  5. unchanged by the hash of the list: one statement. Else compare (pure) and write what differs in one transaction
//  6. report
//
// A failure keeps the tools that were known; explain.go is the one place that turns it into a code and a sentence. Once
// started, a run ends: with the caller gone, after a panic, with the database away for a while (heart.go closes it later),
// and, where the whole process dies, by the heartbeat that the others no longer hear.
//
// Syncs that are due by themselves are claimed many at once (due.go), wait for busy servers without a place (places.go), and end
// together where nothing is new (ends.go): [Syncer.SyncDue].
//
// What is not here: when it is looked what is due (package jobs), and how an upstream is spoken to (package mcp).
package toolsync
