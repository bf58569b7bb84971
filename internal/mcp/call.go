package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"patchbay/internal/mcp/wire"
)

// request is a call that wants a reply. All of them may be sent twice.
type request struct {
	phase  Phase
	method string
	params any
}

// ask sends a request, again where that may help, and returns its result.
func (s *Session) ask(ctx context.Context, c *conversation, r request) (*wire.Reply, error) {
	var reply *wire.Reply
	err := s.retry.do(ctx, func() (failure *Error) {
		reply, failure = c.exchange(ctx, s.outgoing(r))
		return failure
	})
	return reply, err
}

// outgoing is the request as one message, with an id of its own.
func (s *Session) outgoing(r request) outgoing {
	id := int(s.lastID.Add(1))
	return outgoing{
		phase: r.phase, method: r.method, id: id,
		body:  wire.Request(id, r.method, r.params),
		paged: r.method == "tools/list",
	}
}

// The JSON-RPC codes that mean something to us.
const (
	codeMethodNotFound = -32601
	codeInvalidParams  = -32602
)

// rpcError types a JSON-RPC error that came with an HTTP status, or 0. Its message and data are looked at and left behind.
func rpcError(phase Phase, e *wire.Error, status int) *Error {
	failure := &Error{Phase: phase, Reason: ReasonRPC, HTTPStatus: status, RPCCode: e.Code}
	if phase == PhaseInitialize && e.Code == codeInvalidParams {
		supported, named := supportedVersions(e)
		if named || strings.Contains(strings.ToLower(e.Message), "version") {
			failure.Reason = ReasonUnsupportedVersion
			failure.Detail = fmt.Sprintf("we offered MCP %s, the server supports %s", handshakeEra.offer(), supported)
		}
	}
	return failure
}

// supportedVersions reads the versions that the data of a version error names.
func supportedVersions(e *wire.Error) (list string, named bool) {
	var data struct{ Supported []string }
	if json.Unmarshal(e.Data, &data) != nil || len(data.Supported) == 0 {
		return "others", false
	}
	var shown []string
	for _, version := range data.Supported[:min(len(data.Supported), 5)] {
		shown = append(shown, shownVersion(version))
	}
	return strings.Join(shown, ", "), true
}

func protocolError(phase Phase, detail string) *Error {
	return &Error{Phase: phase, Reason: ReasonProtocol, HTTPStatus: 200, Detail: detail}
}
