// Package devmcp is a small MCP server to practise with: twelve plausible tools on loopback, in modes that
// imitate real servers. `patchbay dev-mcp` serves it, and the seed data refers to it.
//
// It speaks Streamable HTTP (2025-11-25 and earlier) with sessions. It stores nothing, and its tokens are
// public, so it belongs on loopback only.
package devmcp
