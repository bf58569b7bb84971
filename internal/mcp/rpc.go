package mcp

import (
	"encoding/json"
	"fmt"
	"strings"

	"patchbay/internal/mcp/revision"
	"patchbay/internal/mcp/wire"
)

// The JSON-RPC codes that mean something to us, besides those of the modern era.
const (
	CodeMethodNotFound = revision.CodeMethodNotFound // the server has no such request
	CodeInvalidParams  = revision.CodeInvalidParams
)

// rpcError types a JSON-RPC error that came with an HTTP status, or 0. Its message and data are looked at and kept aside.
func rpcError(phase Phase, e *wire.Error, status int) *Error {
	failure := &Error{Phase: phase, Reason: ReasonRPC, HTTPStatus: status, RPCCode: e.Code, RPC: (*RPCError)(e)}
	failure.supported = supportedVersions(e)
	refused := phase == PhaseInitialize && e.Code == CodeInvalidParams &&
		(len(failure.supported) > 0 || strings.Contains(strings.ToLower(e.Message), "version"))
	if refused {
		failure.Reason = ReasonUnsupportedVersion
		failure.Detail = fmt.Sprintf("we offered MCP %s, the server supports %s", revision.Handshake.Offer(), shownVersions(failure.supported))
	}
	return failure
}

// supportedVersions reads the versions that the data of a version error names.
func supportedVersions(e *wire.Error) []string {
	var data struct{ Supported []string }
	if len(e.Data) == 0 || json.Unmarshal(e.Data, &data) != nil {
		return nil
	}
	return data.Supported
}

func shownVersions(named []string) string {
	if len(named) == 0 {
		return "others"
	}
	var shown []string
	for _, version := range named[:min(len(named), 5)] {
		shown = append(shown, shownVersion(version))
	}
	return strings.Join(shown, ", ")
}

// isModern tells whether only a server of the modern era refuses a request so.
func isModern(code int) bool {
	return code == codeHeaderMismatch || code == codeMissingCapability || code == codeUnsupportedVersion
}

func protocolError(phase Phase, detail string) *Error {
	return &Error{Phase: phase, Reason: ReasonProtocol, HTTPStatus: 200, Detail: detail}
}
