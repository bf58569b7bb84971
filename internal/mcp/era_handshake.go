package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"patchbay/internal/mcp/revision"
	"patchbay/internal/mcp/wire"
)

// handshakeEra is MCP up to 2025-11-25: initialize negotiates the version once for a session.
type handshakeEra struct{}

const methodInitialize = "initialize"

// initializedTimeout bounds the wait for a response to notifications/initialized.
const initializedTimeout = 5 * time.Second

func (e handshakeEra) openConnection(ctx context.Context, c *connection) error {
	c.reportProgress(Progress{Phase: PhaseInitialize})
	reply, err := c.requestIdempotent(ctx, rpcRequest{phase: PhaseInitialize, method: methodInitialize, params: []wire.Member{
		{Name: "protocolVersion", Value: wire.Text(revision.Handshake.Offer())},
		{Name: "capabilities", Value: c.capabilities},
		{Name: "clientInfo", Value: c.clientInfo},
	}})
	if err != nil {
		return err
	}
	if err := e.readInitializeResult(c, reply.Result); err != nil {
		return err
	}
	c.reportProgress(Progress{Phase: PhaseInitialized})
	return c.retry.do(ctx, func() *Error { return e.sendInitialized(ctx, c) })
}

// sendInitialized sends notifications/initialized. A timeout is no error: the notification needs no response,
// and some servers hold its POST open.
func (handshakeEra) sendInitialized(ctx context.Context, c *connection) *Error {
	m := newNotification(PhaseInitialized, "notifications/initialized", nil)
	m.idempotent = true
	_, err := c.exchangeWithin(ctx, min(initializedTimeout, c.timeout), m)
	if err != nil && err.Phase == PhaseInitialized && err.Reason == ReasonTimeout && ctx.Err() == nil {
		return nil
	}
	return err
}

// readInitializeResult reads the result of initialize. Only the version must be valid; other fields are
// optional.
func (handshakeEra) readInitializeResult(c *connection, raw []byte) error {
	result := readObject(raw)
	if result == nil {
		return newProtocolError(PhaseInitialize, "sent a non-object initialize result")
	}
	version := readString(result.get("protocolVersion"), maxNameLength)
	if !revision.Handshake.Supports(version) {
		chosen := printableVersion(version)
		if raw := result.get("protocolVersion"); version == "" && len(raw) > 0 && raw[0] != 'n' && raw[0] != '"' {
			chosen = invalidVersion
		}
		return &Error{Phase: PhaseInitialize, Reason: ReasonUnsupportedVersion, HTTPStatus: 200, Detail: fmt.Sprintf(
			"we offered MCP %s, the server chose %s", revision.Handshake.Offer(), chosen)}
	}
	c.transport.setVersion(version)
	c.setServerInfo(version, result.get("serverInfo"), result)
	return nil
}

// newMessage adds nothing, because the server keeps version and clientInfo for the session.
func (handshakeEra) newMessage(_ *connection, r rpcRequest, id int) outgoingMessage {
	return r.toMessage(id, appendWithout(make([]wire.Member, 0, metaCapacity), r.meta, metaVersion, metaClient, metaCapabilities))
}

func (handshakeEra) canCancel(*connection) bool           { return true }
func (handshakeEra) hasServerRequests() bool              { return true }
func (handshakeEra) checkResultType(Phase, string) *Error { return nil }

const (
	maxNameLength         = 1 << 10
	maxInstructionsLength = 64 << 10
	maxCapabilitiesLength = 64 << 10
	maxIconsLength        = 512 << 10
)

// setServerInfo stores serverInfo and the result of initialize or server/discover.
func (c *connection) setServerInfo(version string, info json.RawMessage, result jsonMembers) {
	server := readObject(info)
	c.server = ServerInfo{
		Name:            readString(server.get("name"), maxNameLength),
		Version:         readString(server.get("version"), maxNameLength),
		Title:           readString(server.get("title"), maxNameLength),
		ProtocolVersion: version,
		Instructions:    readString(result.get("instructions"), maxInstructionsLength),
	}
	if icons := server.get("icons"); len(icons) <= maxIconsLength {
		c.icons = icons
	}
	c.setServerCapabilities(result.get("capabilities"))
}

func (c *connection) setServerCapabilities(capabilities json.RawMessage) {
	offered := readObject(capabilities)
	c.hasTools = offered.get("tools") != nil
	c.hasLogging = offered.get("logging") != nil
	if offered != nil && len(capabilities) <= maxCapabilitiesLength {
		c.serverCapabilities = capabilities
	}
}

type jsonMembers []wire.Member

// get returns a member's raw value, of duplicates the last; nil: there is none.
func (o jsonMembers) get(name string) json.RawMessage {
	for _, m := range slices.Backward(o) {
		if m.Name == name {
			return m.Value
		}
	}
	return nil
}

// readObject reads an object; it is nil for any other value.
func readObject(raw json.RawMessage) jsonMembers {
	m, _ := wire.Members(raw)
	return m
}

// readString reads a string, cut to maxLength bytes and without bytes that PostgreSQL refuses. Any other value
// is "".
func readString(raw json.RawMessage, maxLength int) string {
	if len(raw) == 0 {
		return ""
	}
	if t, ok := wire.PlainText(raw); ok {
		return t[:min(len(t), maxLength)]
	}
	var t string
	if json.Unmarshal(raw, &t) != nil {
		return ""
	}
	t = strings.ReplaceAll(t, "\x00", "")
	return strings.ToValidUTF8(t[:min(len(t), maxLength)], "")
}

const invalidVersion = "an invalid version"

// versionForm has dates, numbers and drafts. Other words may be anything that the server knows, as a credential.
var versionForm = regexp.MustCompile(`^([0-9]{1,4}([.-][0-9]{1,4}){0,3}|DRAFT-[0-9]{4}-v[0-9]{1,2})$`)

// printableVersion returns the version that a server named, if it looks like one.
func printableVersion(version string) string {
	if version == "" {
		return "none"
	}
	if !versionForm.MatchString(version) {
		return invalidVersion
	}
	return version
}
