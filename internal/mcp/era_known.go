package mcp

import (
	"encoding/json"
	"time"

	"patchbay/internal/mcp/revision"
)

// Known is what a server of the modern era said of itself at an earlier time. One that is known need not be asked again before a request
// is sent: each says all.
type Known struct {
	Server       ServerInfo
	Capabilities json.RawMessage
}

// recall opens a conversation without a request, where the server is of the modern era and what it said is known. It serves once: what
// is opened after it asks. nil: the server is to be asked.
func (s *Session) recall() *conversation {
	known := s.target.Known
	s.target.Known = nil
	if known == nil || s.era != EraModern || s.target.Transport == Stdio || !revision.Modern.Knows(known.Server.ProtocolVersion) {
		return nil
	}
	c := s.conversation(modernEra{}, EraModern)
	c.speak(known.Server.ProtocolVersion)
	c.server, c.recalled = known.Server, true
	c.offer(known.Capabilities)
	return c
}

// deceived tells whether a list, or its failure, says that the server is not any more what is known of it: it does not speak the
// version, or does not answer in the way of this era.
func (c *conversation) deceived(list ToolList, err error) bool {
	return c.recalled && (err == nil && !list.Modern || changed(err))
}

// Recalled tells whether the session goes by what was known of the server, which was not asked.
func (s *Session) Recalled() bool { return s.current().recalled }

// Fresh is for how long what the server said of itself may be taken for known; 0: it did not say.
func (s *Session) Fresh() time.Duration { return s.current().fresh }
