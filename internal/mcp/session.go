package mcp

import (
	"context"
	"encoding/json"
)

// ServerInfo is what a server says of itself. All of it is remote text: show it escaped.
type ServerInfo struct {
	Name            string
	Version         string
	Title           string
	ProtocolVersion string
	Instructions    string
}

// Session is an open conversation with one server. It is for one goroutine at a time.
type Session struct {
	server ServerInfo
}

// Server returns what the server said of itself in the handshake.
func (s *Session) Server() ServerInfo { return s.server }

// Tool is a well-formed entry of a tool list.
type Tool struct {
	Name string          // 1–128 characters
	Raw  json.RawMessage // one JSON object, byte for byte as it was sent
}

// Quarantined is an entry of a tool list that is no usable tool.
type Quarantined struct {
	Name   *string // where it has a readable one
	Reason string  // in our words
	Raw    json.RawMessage
}

// ToolList is everything that a server lists, in its order.
type ToolList struct {
	Tools       []Tool
	Quarantined []Quarantined
	Pages       int
}

// Tools reads the whole tool list. Every error is an *Error.
func (s *Session) Tools(ctx context.Context) (ToolList, error) {
	return ToolList{}, &Error{Phase: PhaseList, Reason: ReasonProtocol}
}

// Close ends the session on the server, within two seconds and as a courtesy: its failure changes nothing.
func (s *Session) Close(ctx context.Context) {}
