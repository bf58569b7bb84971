package mcp

import (
	"encoding/json"
	"fmt"
	"strings"

	"patchbay/internal/mcp/revision"
	"patchbay/internal/mcp/wire"
)

// JSON-RPC codes that are handled, besides those of the modern era.
const (
	CodeMethodNotFound = revision.CodeMethodNotFound // unknown method
	CodeInvalidParams  = revision.CodeInvalidParams
)

// newRPCError converts a JSON-RPC error with its HTTP status, or 0. Message and data are examined but only kept
// in RPC.
func newRPCError(phase Phase, e *wire.Error, status int) *Error {
	failure := &Error{Phase: phase, Reason: ReasonRPC, HTTPStatus: status, RPCCode: e.Code, RPC: (*RPCError)(e)}
	failure.supported = supportedVersions(e)
	refused := phase == PhaseInitialize && e.Code == CodeInvalidParams &&
		(len(failure.supported) > 0 || strings.Contains(strings.ToLower(e.Message), "version"))
	if refused {
		failure.Reason = ReasonUnsupportedVersion
		failure.Detail = fmt.Sprintf("we offered MCP %s, the server supports %s", revision.Handshake.Offer(), printableVersions(failure.supported))
	}
	return failure
}

func supportedVersions(e *wire.Error) []string {
	var data struct{ Supported []string }
	if len(e.Data) == 0 || json.Unmarshal(e.Data, &data) != nil {
		return nil
	}
	return data.Supported
}

func printableVersions(named []string) string {
	if len(named) == 0 {
		return "others"
	}
	var shown []string
	for _, version := range named[:min(len(named), 5)] {
		shown = append(shown, printableVersion(version))
	}
	return strings.Join(shown, ", ")
}

// isModernCode reports whether only a modern-era server sends the code.
func isModernCode(code int) bool {
	return code == codeHeaderMismatch || code == codeMissingCapability || code == codeUnsupportedVersion
}

func newProtocolError(phase Phase, detail string) *Error {
	return &Error{Phase: phase, Reason: ReasonProtocol, HTTPStatus: 200, Detail: detail}
}
