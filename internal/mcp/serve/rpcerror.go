package serve

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"

	"patchbay/internal/mcp/revision"
	"patchbay/internal/mcp/wire"
)

// RPCError is a JSON-RPC error that clients may read.
type RPCError struct {
	Code    int
	Message string
	Data    json.RawMessage // nil: none
	Status  int             // of HTTP; 0: by the code and the peer's era
}

// Error names only the code, as the message may be remote text.
func (e *RPCError) Error() string { return fmt.Sprintf("JSON-RPC error %d", e.Code) }

// MethodNotFound is the error for an unknown method.
func MethodNotFound(method string) *RPCError {
	return &RPCError{Code: revision.CodeMethodNotFound, Message: fmt.Sprintf("Unknown method %q.", truncateText(method))}
}

// InvalidParams is the error for invalid params, with the reason as a sentence.
func InvalidParams(sentence string) *RPCError {
	return &RPCError{Code: revision.CodeInvalidParams, Message: sentence}
}

// HeaderMismatch is the error for headers that contradict the body, with the reason as a sentence.
func HeaderMismatch(sentence string) *RPCError {
	return &RPCError{Code: revision.CodeHeaderMismatch, Message: sentence, Status: http.StatusBadRequest}
}

// unsupportedVersion is the error for a version, with the supported ones.
func unsupportedVersion(requested string) *RPCError {
	data, _ := json.Marshal(map[string]any{"supported": supportedVersions, "requested": requested}) // strings always marshal
	return &RPCError{
		Code: revision.CodeUnsupportedVersion, Status: http.StatusBadRequest, Data: data,
		Message: fmt.Sprintf("Protocol version %q is not supported.", truncateText(requested)),
	}
}

// newStatusError returns an error with an HTTP status for both eras.
func newStatusError(status, code int, sentence string) *RPCError {
	return &RPCError{Code: code, Message: sentence, Status: status}
}

var internalError = &RPCError{Code: revision.CodeInternal, Message: "Something went wrong on our side. Please try again."}

var cancelledError = &RPCError{Code: revision.CodeInternal, Message: "The request was cancelled."}

// httpStatus returns the HTTP status of the error. In the handshake era errors without a Status are sent with
// 200.
func (e *RPCError) httpStatus(modern bool) int {
	switch {
	case e.Status != 0:
		return e.Status
	case !modern:
		return http.StatusOK
	}
	switch e.Code {
	case revision.CodeMethodNotFound:
		return http.StatusNotFound
	case revision.CodeParse, revision.CodeInvalidRequest, revision.CodeHeaderMismatch, revision.CodeMissingCapability,
		revision.CodeUnsupportedVersion:
		return http.StatusBadRequest
	}
	return http.StatusOK
}

// appendMessage appends the error response to request id; nil: the id is unknown.
func (e *RPCError) appendMessage(b []byte, id []byte) []byte {
	b = append(b, `{"jsonrpc":"2.0",`...)
	if id != nil {
		b = append(append(append(b, `"id":`...), id...), ',')
	}
	b = strconv.AppendInt(append(b, `"error":{"code":`...), int64(e.Code), 10)
	b = append(append(b, `,"message":`...), wire.Text(e.Message)...)
	if e.Data != nil {
		b = append(append(b, `,"data":`...), e.Data...)
	}
	return append(b, "}}"...)
}

func truncateText(text string) string {
	const maxShown = 100
	if len(text) <= maxShown {
		return text
	}
	return text[:maxShown] + "…"
}
