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

// call sends a request, again where that may help, and returns its result.
func (s *Session) call(ctx context.Context, r request) (*wire.Reply, error) {
	var reply *wire.Reply
	err := s.retry.do(ctx, func() *Error {
		s.lastID++
		answer, err := s.link.call(ctx, r, s.lastID)
		switch {
		case err != nil:
			s.cancel(ctx, r, err)
			return err
		case answer.Error != nil:
			return rpcError(r.phase, answer.Error)
		}
		reply = answer
		return nil
	})
	return reply, err
}

// cancel tells the server that nobody waits any more. An initialize must not be cancelled.
func (s *Session) cancel(ctx context.Context, r request, err *Error) {
	if err.Reason != ReasonTimeout || r.phase == PhaseInitialize {
		return
	}
	s.link.courtesy(ctx, func(ctx context.Context) {
		_ = s.link.notify(ctx, r.phase, wire.Notification("notifications/cancelled", map[string]any{
			"requestId": s.lastID, "reason": "timeout",
		}))
	})
}

// The JSON-RPC codes that mean something to us.
const (
	codeMethodNotFound = -32601
	codeInvalidParams  = -32602
)

// rpcError types a JSON-RPC error. Its message and data are looked at and left behind.
func rpcError(phase Phase, e *wire.Error) *Error {
	failure := &Error{Phase: phase, Reason: ReasonRPC, HTTPStatus: 200, RPCCode: e.Code}
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
