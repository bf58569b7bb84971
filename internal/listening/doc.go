// Package listening hears when servers say that their lists have changed, and has them synced.
//
//	a sync stores that the server tells of changes ──► a row (store.System.ReviewListeners)
//	a row that nobody holds ──► one process claims it, opens the stream (toolsync.Syncer.Listen), holds it
//	"tools have changed" ──► agents at this server's own address hear it (store.Tenant.PassOn), and
//	                     ──► a queued sync: the first at once, the next ones not sooner than half a minute later
//
// The row decides who holds a stream: whatever happens, each has one process at most, and where that one dies the others
// take its streams over as soon as they notice that it is dead. A stream holds no connection of the database and no worker's place. It
// is opened with the credential that a sync would use, and ended when that, or the connector, is not what it was.
//
// A server may be slow, silent or down: its stream is tried again, later and later (judge.go). One that misbehaves is
// left alone until a person says otherwise: one that floods us (meter.go), one that cries wolf (changes.go), one that ends each stream as
// soon as it is open.
//
// What is not here: how a stream is read (package mcp), what a sync does (package toolsync), how agents hear of it (package gateway).
package listening
