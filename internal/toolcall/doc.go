// Package toolcall performs one call of an agent, under policy.
//
// [Executor.Call] takes these steps (call.go). A call that is refused is not sent:
//
//  1. The tool is granted and served.
//  2. The arguments match the accepted schema.
//  3. Limits and quotas of agent, connector, tool and tenant allow it (limiter.go, quota*.go).
//  4. The definition of a destructive tool is young enough (definition_age.go).
//  5. A person approves, if required: the call waits as a row, which outlives this process (approval*.go).
//  6. The server's circuit is closed (breaker.go), and a credential is cached or loaded (package upstream).
//  7. One request goes out in an open session (upstream_call.go).
//  8. The result goes to the agent unchanged, and to the history (call_outcome.go).
//
// A call is sent once. It is sent a second time only if it certainly did not run (401 or 404 before processing), or if its tool
// allows it (readOnlyHint, idempotentHint) and the connection or session was lost. Of any other interrupted call the agent learns
// that its outcome is unknown.
//
// Errors for the model are a [*Refusal]; invalid arguments are [*InvalidArgumentsError]; a server's JSON-RPC error is its *mcp.Error.
// Sentences never contain text of the server.
//
// Package gateway speaks MCP to agents; package agentview decides what an agent may call.
package toolcall
