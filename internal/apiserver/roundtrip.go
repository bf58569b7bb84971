package apiserver

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strconv"

	"patchbay/internal/jsonschema"
	"patchbay/internal/mcp/serve"
	"patchbay/internal/safe"
)

// answerCall writes the answer to a tools/call to memory, without a detour through [serve.Server], which costs as much as the call.
// ok is false for any other message.
func (s *Server) answerCall(ctx context.Context, out *outcome, memory *callMemory, message []byte) (ok bool) {
	id, call, ok := serve.ReadCall(message)
	if !ok {
		return false
	}
	prefix := append(append(append(memory.result[:0], `{"jsonrpc":"2.0","id":`...), id...), ',')
	memory.result = prefix
	memory.result = append(memory.result, `"result":`...)
	result, err := s.callSafely(ctx, out, memory, call)
	if err == nil {
		memory.result = result
		memory.result = append(memory.result, '}')
		return true
	}
	failure := toRPCError(out, err).(*serve.RPCError) //nolint:errorlint // it is always one
	prefix = strconv.AppendInt(append(memory.result[:len(prefix)], `"error":{"code":`...), int64(failure.Code), 10)
	memory.result = append(jsonschema.AppendQuoted(append(prefix, `,"message":`...), failure.Message), "}}"...)
	return true
}

// callSafely makes a panic an error of this call alone.
func (s *Server) callSafely(ctx context.Context, out *outcome, memory *callMemory, call *serve.Request) (result json.RawMessage, err error) {
	defer safe.RecoverTo(safe.Message, &err)
	return s.callTool(ctx, out, memory, call)
}

// readMessage reads the body of a request.
func readMessage(r *http.Request) ([]byte, error) {
	defer func() { _ = r.Body.Close() }()
	if r.ContentLength > 0 && r.ContentLength < maxKept {
		message := make([]byte, r.ContentLength)
		_, err := io.ReadFull(r.Body, message)
		return message, err
	}
	return io.ReadAll(r.Body)
}

// newResponse returns a response of this process.
func newResponse(r *http.Request, status int, header http.Header, memory *callMemory) *http.Response {
	text := "200 OK"
	if status != http.StatusOK {
		text = strconv.Itoa(status) + " " + http.StatusText(status)
	}
	return &http.Response{
		Status: text, StatusCode: status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: header, Body: &responseBody{memory}, ContentLength: int64(len(memory.rest)), Request: r,
	}
}
