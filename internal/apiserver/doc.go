// Package apiserver is an MCP server inside this process, for a connector that is an HTTP API. Package mcp reaches it as
// the client of a target, so that lists, calls, reviews and records need no second path:
//
//	mcp.Session ── JSON-RPC ──► Server (RoundTrip) ── tools/list ──► Tools of the caller
//	                                               ── tools/call ──► binding in _meta ──httpcall──► the API
//
// A call brings its binding along, from the definition that was accepted. A document that changed meanwhile has no
// effect on it. A refused credential (401) and an overload (429, 502, 503, 504) are answers of the server itself, which
// package mcp retries and explains as those of any server. Other errors are results, which the model reads.
package apiserver
