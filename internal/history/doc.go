// Package history writes the calls' history, off the calls' way.
//
//	Writer.Begin ─► Entry ─► Entry.End       memory only; the caller goes on
//	      └─────────┴── every 100 ms, or 1 000 rows: one statement for those still under way, one for those that have ended, and one for
//	                    those of them whose beginning is written
//
// A call that ends within the same 100 ms is written once, whole; so is one that began in the last 25 of them, and ends before the next batch.
// What is kept of arguments and results (keep.go) is decided by the tenant, cut and redacted here, in the writer's own time.
//
// While the database is away, what waits is kept and tried again; contents go first when memory runs short, and then the callers wait.
// Stop writes everything. What dies with the process: at most the ends of the last 100 ms. Their beginnings stand in the journal
// (journal.go) until they are written, and are closed as lost by the next process that finds the journal (recover.go).
//
// It decides nothing about calls, and reads nothing: package store has the pages of the history.
package history
