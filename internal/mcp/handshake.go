package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
)

type clientInfo struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

type initializeParams struct {
	ProtocolVersion string     `json:"protocolVersion"`
	Capabilities    struct{}   `json:"capabilities"`
	ClientInfo      clientInfo `json:"clientInfo"`
}

const (
	maxNameLength         = 1 << 10
	maxInstructionsLength = 64 << 10
)

// open begins a new conversation with the server.
func (s *Session) open(ctx context.Context) (*conversation, error) {
	c := newConversation(s.dialer.carrier(s.target), s.target.Timeout)
	if err := s.shakeHands(ctx, c); err != nil {
		c.close(ctx)
		return nil, err
	}
	return c, nil
}

// shakeHands is initialize and notifications/initialized.
func (s *Session) shakeHands(ctx context.Context, c *conversation) error {
	s.report(Progress{Phase: PhaseInitialize})
	reply, err := s.ask(ctx, c, request{
		phase:  PhaseInitialize,
		method: handshakeEra.opening,
		params: initializeParams{ProtocolVersion: handshakeEra.offer(), ClientInfo: s.dialer.info()},
	})
	if err != nil {
		return err
	}
	if err := c.welcome(reply.Result); err != nil {
		return err
	}
	s.report(Progress{Phase: PhaseInitialized})
	return s.retry.do(ctx, func() *Error {
		_, err := c.exchange(ctx, notification(PhaseInitialized, "notifications/initialized", nil))
		return err
	})
}

// welcome reads the result of initialize. Only the version must be right; the rest is taken as far as it can be read.
func (c *conversation) welcome(raw []byte) error {
	var result struct {
		ProtocolVersion, ServerInfo, Capabilities, Instructions json.RawMessage
	}
	if err := json.Unmarshal(raw, &result); err != nil {
		return protocolError(PhaseInitialize, "sent an initialize result that is not an object")
	}
	version := text(result.ProtocolVersion, maxNameLength)
	if !handshakeEra.knows(version) {
		return &Error{Phase: PhaseInitialize, Reason: ReasonUnsupportedVersion, HTTPStatus: 200, Detail: fmt.Sprintf(
			"we offered MCP %s, the server chose %s", handshakeEra.offer(), shownVersion(version))}
	}
	c.carrier.agreed(version)
	info := members(result.ServerInfo)
	c.server = ServerInfo{
		Name:            text(info["name"], maxNameLength),
		Version:         text(info["version"], maxNameLength),
		Title:           text(info["title"], maxNameLength),
		ProtocolVersion: version,
		Instructions:    text(result.Instructions, maxInstructionsLength),
	}
	_, c.hasTools = members(result.Capabilities)["tools"]
	return nil
}

// members reads an object; anything else has none.
func members(raw json.RawMessage) map[string]json.RawMessage {
	var m map[string]json.RawMessage
	if json.Unmarshal(raw, &m) != nil {
		return nil
	}
	return m
}

// text reads a string, cut to most bytes and free of what a database refuses; anything else is "".
func text(raw json.RawMessage, most int) string {
	var t string
	if json.Unmarshal(raw, &t) != nil {
		return ""
	}
	t = strings.ReplaceAll(t, "\x00", "")
	return strings.ToValidUTF8(t[:min(len(t), most)], "")
}

// shownVersion is a version that the server named, where it looks like one.
func shownVersion(version string) string {
	if version == "" {
		return "none"
	}
	plain := func(c rune) bool {
		return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '.' || c == '-'
	}
	if len(version) > 20 || strings.IndexFunc(version, func(c rune) bool { return !plain(c) }) >= 0 {
		return "something that is no version"
	}
	return version
}
