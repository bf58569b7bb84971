// Package gateway serves MCP to agents: one server for each agent, over the connectors granted to it.
//
//	/mcp          all connectors: tools and prompts under exposed names, resources as patchbay+<slug>:<URI> or ui://<slug>/…
//	/mcp/{slug}   one connector, under its own names and with its own server info
//
// A request passes these steps:
//
//  1. Headers and origin (envelope.go). A cross-origin request is refused.
//  2. The agent's token becomes an agentview.View from memory (handler.go). Without a valid token the
//     response names the resource metadata (refuse.go, resource.go).
//  3. The rate limit per agent, address and tenant (request_limit.go).
//  4. serve.Server parses the message, whatever its MCP revision.
//  5. Lists are pre-rendered bytes of the view (backend.go). A call goes to toolcall.Executor (call.go).
//     Prompts, resources and completions go to their server (query.go).
//     Tools of MCP Apps link to UI resources, and apps call by the server's own names (apps.go).
//     A lean list has tools that find and call the others; such a call becomes an ordinary one first (lean.go).
//  6. A refusal becomes a tool result for the model (refusal_result.go). An upstream's JSON-RPC error is
//     relayed unchanged.
//
// Any process serves any request. Session ids are sealed data, and messages between processes are short-lived
// rows (router.go). So a request of a server beside a reply (mcp/serve/relay.go), log messages between calls
// (session_log.go) and what others do to a task reach the stream of a client's GET in any process.
//
// The MCP protocol is in mcp/serve, permissions are in agentview, and calls in toolcall.
package gateway
