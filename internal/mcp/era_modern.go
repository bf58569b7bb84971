package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"patchbay/internal/mcp/revision"
	"patchbay/internal/mcp/wire"
)

// modernEra is MCP from 2026-07-28 on: there is no handshake and no session, and every request says what it speaks and who we are.
type modernEra struct{}

const discover = "server/discover"

// The members of _meta that every request carries.
const (
	metaVersion      = revision.MetaVersion
	metaClient       = revision.MetaClient
	metaCapabilities = revision.MetaCapabilities
	metaServer       = revision.MetaServer
)

// The codes by which a server shows that it speaks this era, also where it refuses a request.
const (
	codeHeaderMismatch     = revision.CodeHeaderMismatch
	codeMissingCapability  = revision.CodeMissingCapability
	codeUnsupportedVersion = revision.CodeUnsupportedVersion
)

// open asks the server what it speaks. Where it names another version that we know, it is asked in that.
func (e modernEra) open(ctx context.Context, c *conversation) error {
	c.report(Progress{Phase: PhaseDiscover})
	c.speak(revision.Modern.Offer())
	ask := request{phase: PhaseDiscover, method: discover}
	reply, err := c.ask(ctx, ask)
	if failure, ok := errors.AsType[*Error](err); ok && failure.RPCCode == codeUnsupportedVersion {
		version := revision.Modern.Common(failure.supported)
		if version == "" {
			return unsupported(failure.supported)
		}
		c.speak(version)
		reply, err = c.ask(ctx, ask)
	}
	if err != nil {
		return err
	}
	return e.welcome(c, reply.Result)
}

// welcome reads the result of server/discover. What names no versions is another program's idea of a reply, unless it says in the
// way of this era how it is meant.
func (modernEra) welcome(c *conversation, raw []byte) error {
	result := members(raw)
	var named []string
	_ = json.Unmarshal(result.get("supportedVersions"), &named)
	switch {
	case len(named) == 0 && text(result.get("resultType"), maxNameLength) == "":
		return &Error{Phase: PhaseDiscover, Reason: ReasonProtocol, HTTPStatus: 200, Detail: "sent a discovery without versions", Err: errOtherEra}
	case len(named) > 0:
		version := revision.Modern.Common(named)
		if version == "" {
			return unsupported(named)
		}
		c.speak(version)
	}
	info := members(result.get("_meta")).get(metaServer)
	if info == nil {
		info = result.get("serverInfo")
	}
	c.learn(c.version, info, result)
	c.fresh = milliseconds(result.get("ttlMs"))
	return nil
}

// errOtherEra marks what no server of this era says.
var errOtherEra = errors.New("not of this era")

// unsupported is the failure of a server that speaks none of our versions of this era. It may speak one of the other.
func unsupported(named []string) *Error {
	failure := &Error{Phase: PhaseDiscover, Reason: ReasonUnsupportedVersion, HTTPStatus: 200, RPCCode: codeUnsupportedVersion,
		Detail: fmt.Sprintf("we offered MCP %s, the server supports %s", revision.Modern.Offer(), shownVersions(named))}
	if revision.Handshake.Common(named) != "" {
		failure.Err = errOtherEra
	}
	return failure
}

// speak makes version the one of every request from now on.
func (c *conversation) speak(version string) {
	c.version, c.speaks = version, wire.Text(version)
	c.carrier.agreed(version)
}

// message adds the version and who we are, and over HTTP says the essence in headers.
func (modernEra) message(c *conversation, r request, id int) outgoing {
	meta := appendWithout(make([]wire.Member, 0, fewMembers), r.meta, metaVersion)
	meta = append(meta, wire.Member{Name: metaVersion, Value: c.speaks})
	if !has(meta, metaClient) {
		meta = append(meta, wire.Member{Name: metaClient, Value: c.client})
	}
	if !has(meta, metaCapabilities) {
		meta = append(meta, wire.Member{Name: metaCapabilities, Value: c.capabilities})
	}
	m := r.outgoing(id, meta)
	m.tells, m.name, m.header = true, r.name, r.header
	return m
}

// cancels: over HTTP the end of the stream says it.
func (modernEra) cancels(c *conversation) bool { return c.shared }

func (modernEra) asks() bool { return false }

// settle refuses the kinds of result that nobody here knows.
func (modernEra) settle(phase Phase, kind string) *Error {
	switch kind {
	case "", resultComplete, resultInput, resultTask:
		return nil
	}
	return protocolError(phase, "sent a result of an unknown kind")
}

// The kinds of results.
const (
	resultComplete = "complete"
	resultInput    = "input_required"
	resultTask     = "task" // of the extension io.modelcontextprotocol/tasks
)
