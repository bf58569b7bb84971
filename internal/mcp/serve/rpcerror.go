package serve

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"

	"patchbay/internal/mcp/revision"
	"patchbay/internal/mcp/wire"
)

// RPCError is a JSON-RPC error that a client may read.
type RPCError struct {
	Code    int
	Message string
	Data    json.RawMessage // nil: none
	Status  int             // of HTTP; 0: the one that the code has in the peer's era
}

// Error names the code, for logs: the message may be remote text.
func (e *RPCError) Error() string { return fmt.Sprintf("JSON-RPC error %d", e.Code) }

// MethodNotFound refuses a method that there is not.
func MethodNotFound(method string) *RPCError {
	return &RPCError{Code: revision.CodeMethodNotFound, Message: fmt.Sprintf("There is no method %q here.", shown(method))}
}

// InvalidParams refuses a request for what is wrong in it, a sentence.
func InvalidParams(sentence string) *RPCError {
	return &RPCError{Code: revision.CodeInvalidParams, Message: sentence}
}

// HeaderMismatch refuses a request whose headers say something else than its body, in a sentence.
func HeaderMismatch(sentence string) *RPCError {
	return &RPCError{Code: revision.CodeHeaderMismatch, Message: sentence, Status: http.StatusBadRequest}
}

// MissingCapabilities refuses a request that takes more than the client declared: an object like {"sampling":{}}.
func MissingCapabilities(required json.RawMessage) *RPCError {
	return &RPCError{
		Code:    revision.CodeMissingCapability,
		Message: "The request needs capabilities that the client did not declare.",
		Data:    wire.Object([]wire.Member{{Name: "requiredCapabilities", Value: required}}),
		Status:  http.StatusBadRequest,
	}
}

// unsupportedVersion refuses a version, naming ours.
func unsupportedVersion(requested string) *RPCError {
	data, _ := json.Marshal(map[string]any{"supported": supported, "requested": requested}) // texts always marshal
	return &RPCError{
		Code: revision.CodeUnsupportedVersion, Status: http.StatusBadRequest, Data: data,
		Message: fmt.Sprintf("Protocol version %q is not supported.", shown(requested)),
	}
}

// refusal is an error that ends the HTTP request with a status in either era.
func refusal(status, code int, sentence string) *RPCError {
	return &RPCError{Code: code, Message: sentence, Status: status}
}

var internalError = &RPCError{Code: revision.CodeInternal, Message: "Something went wrong on our side. Please try again."}

var cancelled = &RPCError{Code: revision.CodeInternal, Message: "The request was cancelled."}

// status is the one of HTTP that the error is sent with. To the handshake era an error is an answer like any other.
func (e *RPCError) status(modern bool) int {
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

// append writes the message that answers request id with the error; id nil: it could not be read.
func (e *RPCError) append(b []byte, id []byte) []byte {
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

// shown is remote text that an error may repeat: short.
func shown(text string) string {
	const most = 100
	if len(text) <= most {
		return text
	}
	return text[:most] + "…"
}
