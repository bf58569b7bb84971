// Package revision is the one table of the protocol's versions, and of the words that each of them has reserved: the members of
// _meta, the headers, the error codes. Client and server read the same one.
//
//	versions                                        opens with        a request carries               a conversation has
//	2026-07-28                                      server/discover   its version and who we are      no session
//	2025-11-25, 2025-06-18, 2025-03-26, 2024-11-05  initialize        MCP-Protocol-Version over HTTP  Mcp-Session-Id, where the server gives one
//
// It holds words alone: what a version demands is done by those who speak it.
package revision
