package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"patchbay/internal/mcp/revision"
	"patchbay/internal/mcp/wire"
)

// modernEra is MCP from 2026-07-28 on: no handshake and no session. Every request carries version and
// clientInfo.
type modernEra struct{}

const (
	methodDiscover = "server/discover"
	methodListen   = "subscriptions/listen"
)

// Members of _meta in every request.
const (
	metaVersion      = revision.MetaVersion
	metaClient       = revision.MetaClient
	metaCapabilities = revision.MetaCapabilities
	metaServer       = revision.MetaServer
)

// Codes that only a modern-era server sends.
const (
	codeHeaderMismatch     = revision.CodeHeaderMismatch
	codeMissingCapability  = revision.CodeMissingCapability
	codeUnsupportedVersion = revision.CodeUnsupportedVersion
)

// openConnection sends server/discover, again if the server names another version that we support.
func (e modernEra) openConnection(ctx context.Context, c *connection) error {
	c.reportProgress(Progress{Phase: PhaseDiscover})
	c.setVersion(revision.Modern.Offer())
	request := rpcRequest{phase: PhaseDiscover, method: methodDiscover}
	reply, err := c.requestIdempotent(ctx, request)
	if failure, ok := errors.AsType[*Error](err); ok && failure.RPCCode == codeUnsupportedVersion {
		version := revision.Modern.Common(failure.supported)
		if version == "" {
			return newVersionError(failure.supported)
		}
		c.setVersion(version)
		reply, err = c.requestIdempotent(ctx, request)
	}
	if err != nil {
		return err
	}
	return e.readDiscoverResult(c, reply.Result)
}

// readDiscoverResult reads the result of server/discover. A result without versions is of another era, unless
// it has a resultType.
func (modernEra) readDiscoverResult(c *connection, raw []byte) error {
	result := readObject(raw)
	var named []string
	_ = json.Unmarshal(result.get("supportedVersions"), &named)
	switch {
	case len(named) == 0 && readString(result.get("resultType"), maxNameLength) == "":
		return &Error{Phase: PhaseDiscover, Reason: ReasonProtocol, HTTPStatus: 200, Detail: "sent a discovery without versions", Err: errOtherEra}
	case len(named) > 0:
		version := revision.Modern.Common(named)
		if version == "" {
			return newVersionError(named)
		}
		c.setVersion(version)
	}
	info := readObject(result.get("_meta")).get(metaServer)
	if info == nil {
		info = result.get("serverInfo")
	}
	c.setServerInfo(c.version, info, result)
	c.infoTTL = readMilliseconds(result.get("ttlMs"))
	return nil
}

// errOtherEra marks a response that no modern-era server sends.
var errOtherEra = errors.New("not of this era")

// newVersionError is the error for a server without a common modern version. It may still have a handshake
// version.
func newVersionError(named []string) *Error {
	failure := &Error{Phase: PhaseDiscover, Reason: ReasonUnsupportedVersion, HTTPStatus: 200, RPCCode: codeUnsupportedVersion,
		Detail: fmt.Sprintf("we offered MCP %s, the server supports %s", revision.Modern.Offer(), printableVersions(named))}
	if revision.Handshake.Common(named) != "" {
		failure.Err = errOtherEra
	}
	return failure
}

func (c *connection) setVersion(version string) {
	c.version, c.versionJSON = version, wire.Text(version)
	c.transport.setVersion(version)
}

// newMessage adds version and clientInfo, and over HTTP the method headers.
func (modernEra) newMessage(c *connection, r rpcRequest, id int) outgoingMessage {
	meta := appendWithout(make([]wire.Member, 0, metaCapacity), r.meta, metaVersion)
	meta = append(meta, wire.Member{Name: metaVersion, Value: c.versionJSON})
	if !hasMember(meta, metaClient) {
		meta = append(meta, wire.Member{Name: metaClient, Value: c.clientInfo})
	}
	if !hasMember(meta, metaCapabilities) {
		meta = append(meta, wire.Member{Name: metaCapabilities, Value: c.capabilities})
	}
	m := r.toMessage(id, meta)
	m.hasMethodHeader, m.name, m.header = true, r.name, r.header
	return m
}

// canCancel: over HTTP, closing the stream cancels the request.
func (modernEra) canCancel(c *connection) bool { return c.hasSharedStream }

func (modernEra) hasServerRequests() bool { return false }

// checkResultType refuses unknown result types.
func (modernEra) checkResultType(phase Phase, kind string) *Error {
	switch kind {
	case "", resultComplete, resultInput, resultTask:
		return nil
	}
	return newProtocolError(phase, "sent an unknown result type")
}

// Result types.
const (
	resultComplete = "complete"
	resultInput    = "input_required"
	resultTask     = "task" // of the extension io.modelcontextprotocol/tasks
)
