package mcp

import (
	"context"
	"net/http"

	"patchbay/internal/mcp/wire"
)

// transport carries messages to one server and replies back.
//
//	transport_http.go   Streamable HTTP, and HTTP with JSON responses only: each message is a POST with its own response
//	transport_sse.go    HTTP+SSE of 2024-11-05: one GET stream for all replies, each message is a POST
//	transport_stdio.go  a child process: each message is one line
//
// It handles bytes, connections and processes; eras, retries and meaning belong to the session. It serves one
// connection. After errSessionLost the session opens another one.
//
// The opening requests and setVersion run one after the other. After them, send may be called concurrently
// until close.
type transport interface {
	// send sends one message and, if it is a request (m.id != 0), waits for the reply.
	//
	// It returns with the reply, when the transport fails, or soon after ctx has ended. No message may exceed
	// maxBody, and no response maxStream or maxEvents. On a shared stream each message counts by itself.
	//
	// Messages of the server before the reply go to the messageHandler.
	//
	// The *Error is from classifyError with m.phase, or PhaseConnect if no connection was made. It is Retryable
	// if the same request may succeed later; the session decides whether it may be repeated. Err is
	// errSessionLost if the server no longer knows the session. A JSON-RPC error reply is no *Error. A message
	// without a reply is done when the server has received it, with any response.
	send(ctx context.Context, m outgoingMessage) (receivedReply, *Error)

	// setVersion sets the negotiated protocol version.
	setVersion(version string)

	// close ends the connection, politely while ctx lasts. It works after ctx has ended. When it returns, no
	// callback, goroutine, stream or process of the transport is left. The session calls it once, after
	// cancelling all sends.
	close(ctx context.Context)
}

type outgoingMessage struct {
	phase           Phase
	method          string   // empty: a reply to a server request
	id              int      // 0: a notification or a reply
	body            []byte   // one line of JSON-RPC, without the line feed
	paged           bool     // the reply is a tool list page
	idempotent      bool     // may be sent twice
	poolable        bool     // the reply may use pooled memory
	memoryKey       [16]byte // MemoryLimit key of the reply; zero: not counted
	hasMethodHeader bool     // HTTP headers repeat method and name, for proxies
	name            string   // for Mcp-Name; empty: none
	// header holds further HTTP headers; nil: none.
	header http.Header
}

type receivedReply struct {
	reply  *wire.Reply
	status int // of HTTP; 0: there is none
	lease  pooledBody
}

// messageHandler receives the server's requests and notifications in order. stream is the request id of the
// response that carried m, or 0 for a shared stream. It must not block, because the stream's reader calls it.
// It may keep m.
type messageHandler func(stream int, m wire.Message)
