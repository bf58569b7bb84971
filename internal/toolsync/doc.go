// Package toolsync performs sync runs: it lists a connector's tools on its server and stores the differences.
//
// [Syncer.Sync] performs one run:
//
//  1. load the connector; a disabled one is refused (sync.go)
//  2. start the run in the database, which admits one run of a connector at a time, on any replica
//  3. choose the credentials to try, in order (plan.go)
//  4. open a session and list the tools, bounded in time and bytes, with no transaction open (run.go); renew a refused
//     token once (token_refresh.go); list prompts and resources if the server has those capabilities (items.go)
//  5. store (save.go): one statement if the hash of the list is unchanged, else compare and write the differences in one
//     transaction
//
// A failed run keeps the known tools. explain.go turns every failure into a code and a sentence. A started run always
// ends: without its caller, after a panic, after a database outage (heartbeat.go stores its end later). When the process
// dies, another one ends its runs.
//
// [Syncer.SyncDue] performs scheduled syncs (due.go, scheduled.go). They are claimed in batches (claims.go), bounded per
// process (slotpool.go) and per host (hostqueue.go), and their outcomes are written in batches (outcomes.go).
//
// Package jobs decides when to look for due connectors. Package mcp speaks the protocol.
package toolsync
