// Package gateway is the door for agents: one MCP server for each of them, over the connectors that it was granted.
//
//	/mcp          all of its connectors: tools and prompts under exposed names, resources as patchbay+<slug>:<URI>
//	/mcp/{slug}   one connector alone, its names and its own words unprefixed
//
// A request goes this way, and asks neither the database nor an upstream more than it has to:
//
//  1. the envelope (envelope.go): a page of another site is refused, the headers of an answer set
//  2. the agent's token → access.View, from memory (handler.go); none or a bad one is told where tokens come from (refuse.go)
//  3. serve.Server reads the message, whatever era it is of
//  4. lists are ready-made bytes of the view; a call goes to toolcall.Caller; prompts, resources and completions to their server
//     under their own names
//  5. what was refused becomes a result that the model reads (answer.go), an upstream's JSON-RPC error stays what it is
//
// Any process serves any request: sessions are sealed into their ids, and what one process must tell another goes through rows that
// live for minutes (router.go).
//
// What is not here: MCP itself (mcp/serve), who may what (access), how a call is made (toolcall).
package gateway
