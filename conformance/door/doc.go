// Command door lets programs without a token reach connectors of a running Patchbay, such as the server mode of
// the official MCP conformance suite.
//
// For each argument NAME=URL it creates a connector for the MCP server at URL, syncs it, and creates an agent
// with a token. It forwards requests from a loopback port to the agent's endpoint with that token, until it is
// stopped. It prints a line for each:
//
//	NAME http://127.0.0.1:PORT/
//
// The argument NAME=SLUG+SLUG… forwards to /mcp with an agent of these connectors, and changes the names that a client sends to
// exposed names of the first one (aggregate.go). The argument admin forwards to /mcp/admin with the API key. conformance/run
// starts everything.
package main
