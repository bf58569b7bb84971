package mcp

import (
	"encoding/json"
	"time"

	"patchbay/internal/mcp/revision"
)

// Known is what a modern-era server declared earlier. With it, requests need no server/discover, because each
// is self-contained.
type Known struct {
	Server       ServerInfo
	Capabilities json.RawMessage
}

// openKnown opens a connection without a request, if Known is set and valid. It is used once: later connections
// ask the server. nil: the server must be asked.
func (s *Session) openKnown() *connection {
	known := s.target.Known
	s.target.Known = nil
	if known == nil || s.era != EraModern || s.target.Transport == Stdio || !revision.Modern.Supports(known.Server.ProtocolVersion) {
		return nil
	}
	c := s.newConnection(modernEra{}, EraModern)
	c.setVersion(known.Server.ProtocolVersion)
	c.server, c.usesKnown = known.Server, true
	c.setServerCapabilities(known.Capabilities)
	return c
}

// isInfoStale reports whether a list, or its error, contradicts Known: the server does not speak the version or
// the era.
func (c *connection) isInfoStale(list ToolList, err error) bool {
	return c.usesKnown && (err == nil && !list.Modern || mayHaveChangedEra(err))
}

// UsesKnown reports whether the session relies on Target.Known instead of server/discover.
func (s *Session) UsesKnown() bool { return s.currentConnection().usesKnown }

// InfoTTL is how long the server's info may be cached; 0: not declared.
func (s *Session) InfoTTL() time.Duration { return s.currentConnection().infoTTL }
