// Package mcpregistry reads the lists of servers that MCP registries publish: the official one, and those that speak like it
// (GET /v0.1/servers, in pages that a cursor links).
//
// A registry is as strange as any server whose address a tenant enters. It is asked through package safehttp, follows no redirect,
// answers within [Patience] in all, with [MaxPage] bytes a page, [MaxPages] pages and [clientconfig.MaxEntries] servers at most; what
// does not fit is left out, and the reader is told.
//
// What it is not for: understanding a server of the list (package clientconfig), and making connectors of them (package manage).
package mcpregistry
