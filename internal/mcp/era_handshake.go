package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"patchbay/internal/mcp/revision"
	"patchbay/internal/mcp/wire"
)

// handshakeEra is MCP up to 2025-11-25: who we are and what we speak is said once, and the conversation remembers it.
type handshakeEra struct{}

const initialize = "initialize"

// initializedTime bounds the wait for an answer to notifications/initialized.
const initializedTime = 5 * time.Second

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
	return c.retry.do(ctx, func() *Error { return e.announce(ctx, c) })
}

// announce sends notifications/initialized. A server that has it and does not answer in time is ready all the same: the
// notification wants no reply, and some servers hold its POST open.
func (handshakeEra) announce(ctx context.Context, c *conversation) *Error {
	_, err := c.within(ctx, min(initializedTime, c.timeout), notification(PhaseInitialized, "notifications/initialized", nil))
	if err != nil && err.Phase == PhaseInitialized && err.Reason == ReasonTimeout && ctx.Err() == nil {
		return nil
	}
	return err
}

// welcome reads the result of initialize. Only the version must be right; the rest is taken as far as it can be read.
func (handshakeEra) welcome(c *conversation, raw []byte) error {
	result := members(raw)
	if result == nil {
		return protocolError(PhaseInitialize, "sent an initialize result that is not an object")
	}
	version := text(result.get("protocolVersion"), maxNameLength)
	if !revision.Handshake.Knows(version) {
		chosen := shownVersion(version)
		if raw := result.get("protocolVersion"); version == "" && len(raw) > 0 && raw[0] != 'n' && raw[0] != '"' {
			chosen = noVersion
		}
		return &Error{Phase: PhaseInitialize, Reason: ReasonUnsupportedVersion, HTTPStatus: 200, Detail: fmt.Sprintf(
			"we offered MCP %s, the server chose %s", revision.Handshake.Offer(), chosen)}
	}
	c.carrier.agreed(version)
	c.learn(version, result.get("serverInfo"), result)
	return nil
}

// message adds nothing: the conversation knows it all.
func (handshakeEra) message(_ *conversation, r request, id int) outgoing {
	return r.outgoing(id, appendWithout(make([]wire.Member, 0, fewMembers), r.meta, metaVersion, metaClient, metaCapabilities))
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
func (c *conversation) learn(version string, info json.RawMessage, result object) {
	server := members(info)
	c.server = ServerInfo{
		Name:            text(server.get("name"), maxNameLength),
		Version:         text(server.get("version"), maxNameLength),
		Title:           text(server.get("title"), maxNameLength),
		ProtocolVersion: version,
		Instructions:    text(result.get("instructions"), maxInstructionsLength),
	}
	c.offer(result.get("capabilities"))
}

// offer keeps what the server says that it can do.
func (c *conversation) offer(capabilities json.RawMessage) {
	offered := members(capabilities)
	c.hasTools = offered.get("tools") != nil
	c.hasLog = offered.get("logging") != nil
	if offered != nil && len(capabilities) <= maxCapabilitiesLength {
		c.offers = capabilities
	}
}

// object is the members of a JSON object, in their order.
type object []wire.Member

// get returns a member's raw value; of several with the name the last. nil: there is none.
func (o object) get(name string) json.RawMessage {
	for _, m := range slices.Backward(o) {
		if m.Name == name {
			return m.Value
		}
	}
	return nil
}

// members reads an object; anything else has none, and is nil.
func members(raw json.RawMessage) object {
	m, _ := wire.Members(raw)
	return m
}

// text reads a string, cut to most bytes and free of what a database refuses; anything else is "".
func text(raw json.RawMessage, most int) string {
	if len(raw) == 0 {
		return ""
	}
	if t, ok := wire.PlainText(raw); ok {
		return t[:min(len(t), most)]
	}
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
