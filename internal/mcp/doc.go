// Package mcp speaks the Model Context Protocol to a remote server, as a client, and keeps what it sends byte for byte.
//
//	Dialer.Dial(Target) ─ server/discover, else initialize, else HTTP+SSE ─► Session, safe for concurrent use
//	Session.Tools ─────── tools/list, page by page ────────────────────────► ToolList (raw JSON, quarantined entries apart)
//	Session.Call ──────── tools/call, once ────────────────────────────────► Result (raw JSON)
//	Session.List, Request, Notify, Ping, Listen, Task: everything else
//	Session.Close ─────── DELETE, where there is a session
//
// Remote servers are sloppy, slow, huge or hostile. Every wait and every byte is bounded, a bad tool is set aside while
// the others arrive, and every failure is an [*Error] that says where the conversation ended and why, in our words: no
// text of the remote side gets into it, but for Error.RPC, which is for whoever asked.
//
// How the parts stand to each other:
//
//	session.go       what callers hold: it opens conversations, and takes another where the server has lost one (renew.go)
//	open.go          finds out which era the server speaks
//	conversation.go  one life of a session; inbound.go is what the server says in it by itself
//	era.go           what the eras differ in: era_handshake.go and era_modern.go; the one table of versions is package revision
//	carrier.go       how messages travel: carrier_http.go, carrier_sse.go, carrier_stdio.go
//
// The wire format lives in the packages wire (JSON-RPC) and sse (event streams), what model providers make of tools in toolfmt;
// mcptest holds a scripted server for tests.
//
// The package makes no HTTP client of its own: it is handed one that knows where it may connect. It stores nothing and
// decides nothing about tools.
package mcp
