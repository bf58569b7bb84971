package apiserver

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"strconv"

	"patchbay/internal/jsonschema"
	"patchbay/internal/mcp/serve"
	"patchbay/internal/safe"
)

// answerCall answers a tools/call without a detour through [serve.Server], which costs as much as the call. ok is false for any
// other message.
func (s *Server) answerCall(ctx context.Context, message []byte) (body net.Buffers, ok bool) {
	id, call, ok := serve.ReadCall(message)
	if !ok {
		return nil, false
	}
	prefix := append(append([]byte(`{"jsonrpc":"2.0","id":`), id...), ',')
	result, err := s.callSafely(ctx, call)
	if err == nil {
		return net.Buffers{append(prefix, `"result":`...), result, []byte{'}'}}, true
	}
	failure := toRPCError(ctx, err).(*serve.RPCError) //nolint:errorlint // it is always one
	prefix = strconv.AppendInt(append(prefix, `"error":{"code":`...), int64(failure.Code), 10)
	return net.Buffers{append(jsonschema.AppendQuoted(append(prefix, `,"message":`...), failure.Message), "}}"...)}, true
}

// callSafely makes a panic an error of this call alone.
func (s *Server) callSafely(ctx context.Context, call *serve.Request) (result json.RawMessage, err error) {
	defer safe.RecoverTo(safe.Message, &err)
	return s.callTool(ctx, call)
}

// readMessage reads the body of a request.
func readMessage(r *http.Request) ([]byte, error) {
	defer func() { _ = r.Body.Close() }()
	if r.ContentLength > 0 && r.ContentLength < maxPrepared {
		message := make([]byte, r.ContentLength)
		_, err := io.ReadFull(r.Body, message)
		return message, err
	}
	return io.ReadAll(r.Body)
}

// newResponse returns a response of this process.
func newResponse(r *http.Request, status int, header http.Header, body io.Reader, length int64) *http.Response {
	return &http.Response{
		Status: strconv.Itoa(status) + " " + http.StatusText(status), StatusCode: status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: header, Body: io.NopCloser(body), ContentLength: length, Request: r,
	}
}
