// Package mcp speaks the Model Context Protocol to a remote server, as a client, and keeps what it sends byte for byte.
//
//	Dialer.Dial(Target) ── initialize ── notifications/initialized ──► Session
//	Session.Tools ─────── tools/list, page by page ─────────────────► ToolList (raw JSON, quarantined entries apart)
//	Session.Close ─────── DELETE
//
// Remote servers are sloppy, slow, huge or hostile. Every wait and every byte is bounded, a bad tool is set aside while
// the others arrive, and every failure is an [*Error] that says where the conversation ended and why, in our words: no
// text of the remote side gets into it.
//
// Which protocol versions are known stands in one table, in era.go. The wire format lives in the packages wire
// (JSON-RPC) and sse (event streams); mcptest holds a scripted server for tests.
//
// The package makes no HTTP client of its own: it is handed one that knows where it may connect. It stores nothing and
// decides nothing about tools.
package mcp
