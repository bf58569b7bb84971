// Package mcp is an MCP client for remote servers. It passes on what they send byte for byte.
//
//	Dialer.Dial(Target) ─ server/discover, else initialize, else HTTP+SSE ─► Session, safe for concurrent use
//	Session.Tools ─────── tools/list, page by page ────────────────────────► ToolList (raw JSON, quarantined entries apart)
//	Session.Call ──────── tools/call, once ────────────────────────────────► Result (raw JSON)
//	Session.List, Request, Notify, Ping, Listen, Task: all other methods
//	Session.Close ─────── DELETE, if there is an MCP session
//
// Remote servers may be malformed, slow, huge or hostile. Every wait and every byte is bounded, and invalid
// tools are quarantined. Every failure is an [*Error] with a phase and a reason in our words; only Error.RPC
// holds remote text.
//
//	session.go     the public handle: opens connections and replaces a lost one (reconnect.go)
//	open.go        detects the server's era
//	connection.go  one MCP session; server_message.go handles the server's own messages
//	era.go         differences of the eras: era_handshake.go, era_modern.go; package revision has the versions
//	transport.go   transports: transport_http.go, transport_sse.go, transport_stdio.go
//
// Package wire has JSON-RPC, sse the event streams, toolfmt the formats of model providers, and mcptest a
// scripted server for tests. The caller provides the HTTP client, which controls the addresses that may be
// reached. The package stores nothing.
package mcp
