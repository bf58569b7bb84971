// Package calllog writes the history of tool calls without delaying the calls.
//
//	Writer.Begin ─► Entry ─► Entry.End       in memory only
//	      └─────────┴── every 100 ms, or maxRows rows (batch.go): one statement for calls in progress, one for ended calls, and one
//	                    for ended calls with a stored beginning
//
// A call that begins and ends within one batch is written once; so is one that began in the last quarter of the
// interval. The tenant decides how much of arguments and results is kept (retention.go). The writer truncates
// (truncate.go) and redacts them (package redact).
//
// During a database outage calls wait in memory and are retried. When memory runs short, contents are dropped,
// and then End blocks. Stop writes everything. A killed process loses at most the ends of the last 100 ms.
// Their beginnings are in the journal (journal.go), and the next process that finds it closes them as lost
// (recover.go).
//
// The package has no rules about calls and reads none: package store has the pages of the history.
package calllog
