// Package toolcall performs one call of an agent, under policy.
//
// [Caller.Call] goes in this order; what is refused is refused before anything is sent:
//
//  1. is the tool granted, and served at all
//  2. do the arguments fit the accepted schema
//  3. may the agent call now: its rate, the connector's, and the breaker of the server
//  4. does a person have to agree: the call waits as a row (approval*.go), which outlives this process
//  5. whose credential goes out: from memory, until the database says that it changed (wallet.go)
//  6. forward in a session that is open already: one request (package upstream)
//  7. what came of it goes to the agent as the server wrote it, and to the history
//
// A call is sent once. Again, and once, only where it certainly did not run (the server answered 401 or 404 before it looked at it), or
// where its tool says that it may run twice (readOnlyHint, idempotentHint) and the server broke off or lost the session meanwhile. Of any
// other call that was cut off the agent is told that nobody knows whether it ran.
//
// Everything that the agent's model should read is a [*Refusal]; arguments that do not fit are a [*BadArguments]; a JSON-RPC error of
// the server is the *mcp.Error that holds it. Sentences never hold text of the remote side.
//
// It speaks no MCP to agents (package gateway does), and keeps no list of who may what (package access does).
package toolcall
