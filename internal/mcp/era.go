package mcp

import "slices"

// Era is a family of protocol versions, as it is remembered of a server.
type Era string

// The eras.
const (
	EraUnknown   Era = ""
	EraModern    Era = "modern"    // 2026-07-28
	EraHandshake Era = "handshake" // initialize, over any transport but the next
	EraSSE       Era = "sse"       // initialize, over the HTTP+SSE of 2024
)

// An era is a family of protocol versions whose conversations open in one way.
//
//	era            opens with   versions                                        session
//	handshakeEra   initialize   2025-11-25, 2025-06-18, 2025-03-26, 2024-11-05  Mcp-Session-Id, where the server gives one
//
// All knowledge of versions stands here.
type era struct {
	opening  string   // the method of the first request
	versions []string // newest first
}

var handshakeEra = era{
	opening:  "initialize",
	versions: []string{"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"},
}

// offer is the version that we ask for.
func (e era) offer() string { return e.versions[0] }

// knows tells whether we can speak a version that the server chose.
func (e era) knows(version string) bool { return slices.Contains(e.versions, version) }
