package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"patchbay/internal/mcp/revision"
	"patchbay/internal/mcp/wire"
)

// handshakeEra is MCP up to 2025-11-25: who we are and what we speak is said once, and the conversation remembers it.
type handshakeEra struct{}

const initialize = "initialize"

// open is initialize and notifications/initialized.
func (e handshakeEra) open(ctx context.Context, c *conversation) error {
	c.report(Progress{Phase: PhaseInitialize})
	reply, err := c.ask(ctx, request{phase: PhaseInitialize, method: initialize, params: []wire.Member{
		{Name: "protocolVersion", Value: wire.Text(revision.Handshake.Offer())},
		{Name: "capabilities", Value: c.capabilities},
		{Name: "clientInfo", Value: c.client},
	}})
	if err != nil {
		return err
	}
	if err := e.welcome(c, reply.Result); err != nil {
		return err
	}
	c.report(Progress{Phase: PhaseInitialized})
	return c.retry.do(ctx, func() *Error {
		_, err := c.exchange(ctx, notification(PhaseInitialized, "notifications/initialized", nil))
		return err
	})
}

// welcome reads the result of initialize. Only the version must be right; the rest is taken as far as it can be read.
func (handshakeEra) welcome(c *conversation, raw []byte) error {
	result := members(raw)
	if result == nil {
		return protocolError(PhaseInitialize, "sent an initialize result that is not an object")
	}
	version := text(result["protocolVersion"], maxNameLength)
	if !revision.Handshake.Knows(version) {
		chosen := shownVersion(version)
		if raw := result["protocolVersion"]; version == "" && len(raw) > 0 && raw[0] != 'n' && raw[0] != '"' {
			chosen = noVersion
		}
		return &Error{Phase: PhaseInitialize, Reason: ReasonUnsupportedVersion, HTTPStatus: 200, Detail: fmt.Sprintf(
			"we offered MCP %s, the server chose %s", revision.Handshake.Offer(), chosen)}
	}
	c.carrier.agreed(version)
	c.learn(version, result["serverInfo"], result)
	return nil
}

// message adds nothing: the conversation knows it all.
func (handshakeEra) message(_ *conversation, r request, id int) outgoing {
	return r.outgoing(id, without(r.meta, metaVersion, metaClient, metaCapabilities))
}

func (handshakeEra) cancels(*conversation) bool  { return true }
func (handshakeEra) asks() bool                  { return true }
func (handshakeEra) settle(Phase, string) *Error { return nil }

const (
	maxNameLength         = 1 << 10
	maxInstructionsLength = 64 << 10
	maxCapabilitiesLength = 64 << 10
)

// learn keeps what the server said of itself; result is that of initialize or server/discover.
func (c *conversation) learn(version string, info json.RawMessage, result map[string]json.RawMessage) {
	server := members(info)
	c.server = ServerInfo{
		Name:            text(server["name"], maxNameLength),
		Version:         text(server["version"], maxNameLength),
		Title:           text(server["title"], maxNameLength),
		ProtocolVersion: version,
		Instructions:    text(result["instructions"], maxInstructionsLength),
	}
	offered := members(result["capabilities"])
	_, c.hasTools = offered["tools"]
	_, c.hasLog = offered["logging"]
	if offered != nil && len(result["capabilities"]) <= maxCapabilitiesLength {
		c.offers = result["capabilities"]
	}
}

// members reads an object; anything else has none, and is nil.
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

const noVersion = "something that is no version"

// shownVersion is a version that the server named, where it looks like one.
func shownVersion(version string) string {
	if version == "" {
		return "none"
	}
	plain := func(c rune) bool {
		return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '.' || c == '-'
	}
	if len(version) > 20 || strings.IndexFunc(version, func(c rune) bool { return !plain(c) }) >= 0 {
		return noVersion
	}
	return version
}
