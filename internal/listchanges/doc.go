// Package listchanges listens for list_changed notifications of servers and queues syncs for them.
//
//	a sync stores that the server announces list changes ──► a row (store.System.ReviewListeners)
//	a row without an owner ──► one process claims it and opens the stream (toolsync.Syncer.Listen)
//	"tools have changed"   ──► agents at this server's own address are notified (store.Tenant.PassOn), and
//	                       ──► a sync is queued: the first at once, the next ones after Options.MinSyncInterval
//
// Webhooks that name these kinds are told of changed lists, with each sync, and of log messages of level error and above, once a
// minute (events.go).
//
// The row decides which process owns a stream, so that at most one does. When a process dies, others take its
// streams over. A stream holds no database connection and no worker. It uses the credential of a sync and ends
// when the credential or the connector changes.
//
// manager.go starts and stops; loop.go claims and checks streams; stream.go is one of them; changes.go queues
// syncs. A failed stream is retried with backoff (stream_end.go). A misbehaving server is turned off until a
// person turns it on: too many messages (message_counter.go), too many notifications without a change (changes.go), too
// many short streams.
//
// Package mcp reads the stream, package toolsync syncs, package gateway notifies agents.
package listchanges
