// Package revision lists the MCP revisions, and the names that they reserve: members of _meta, headers, error
// codes. Client and server share it.
//
//	versions                                        opens with        a request carries               a session has
//	2026-07-28                                      server/discover   its version and clientInfo      no id
//	2025-11-25, 2025-06-18, 2025-03-26, 2024-11-05  initialize        MCP-Protocol-Version over HTTP  Mcp-Session-Id, if the server sends one
package revision
