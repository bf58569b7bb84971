// Command door lets programs that send no token reach connectors of a running Patchbay: the server mode of the official MCP conformance
// suite is one.
//
// Each argument is NAME=URL. It makes a connector for the MCP server at the URL, syncs it, makes an agent with a token that may use it,
// and forwards what comes in at a loopback address of its own to the agent's door, with the token. It prints a line for each, and ends
// when it is told to:
//
//	NAME http://127.0.0.1:PORT/
//
// The argument admin is the door of admins' assistants, with the API key.
//
// Use conformance/run, which starts everything.
package main
