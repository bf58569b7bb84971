package mcp

import (
	"encoding/json"
	"time"

	"patchbay/internal/mcp/revision"
)

// CachedServerInfo is what a modern-era server declared earlier. With it, requests need no server/discover, because each
// is self-contained.
type CachedServerInfo struct {
	Server       ServerInfo
	Capabilities json.RawMessage
}

// openFromCache opens a connection without a request, if Known is set and valid. It is used once: later connections
// ask the server. nil: the server must be asked.
func (s *Session) openFromCache() *connection {
	known := s.target.Known
	s.target.Known = nil
	if known == nil || s.era != EraModern || s.target.Transport == Stdio || !revision.Modern.Supports(known.Server.ProtocolVersion) {
		return nil
	}
	c := s.newConnection(modernEra{}, EraModern)
	c.setVersion(known.Server.ProtocolVersion)
	c.server, c.usesCachedInfo = known.Server, true
	c.setServerCapabilities(known.Capabilities)
	return c
}

// isInfoStale reports whether a list, or its error, contradicts Known: the server does not speak the version or
// the era.
func (c *connection) isInfoStale(list ToolList, err error) bool {
	return c.usesCachedInfo && (err == nil && !list.Modern || mayHaveChangedEra(err))
}

// UsesCachedInfo reports whether the session relies on Target.Known instead of server/discover.
func (s *Session) UsesCachedInfo() bool { return s.currentConnection().usesCachedInfo }

// InfoTTL is how long the server's info may be cached; 0: not declared.
func (s *Session) InfoTTL() time.Duration { return s.currentConnection().infoTTL }
