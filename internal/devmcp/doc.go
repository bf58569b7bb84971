// Package devmcp is a small MCP server for newcomers: a dozen plausible tools on loopback, in the several ways in which
// real servers behave. `patchbay dev-mcp` serves it, and a seeded installation points at it.
//
// It speaks Streamable HTTP (2025-11-25 and the revisions before it) with sessions. It keeps nothing and guards nothing:
// its tokens are published, so it belongs on loopback only.
package devmcp
