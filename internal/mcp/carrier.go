package mcp

import (
	"context"
	"net/http"

	"patchbay/internal/mcp/wire"
)

// A carrier brings messages to one server and its replies back. There is one for each transport:
//
//	carrier_http.go   Streamable HTTP, and HTTP that only ever answers with JSON: each message is a POST with an answer of its own
//	carrier_sse.go    the HTTP+SSE of 2024: one GET stream brings everything, each message is a POST
//	carrier_stdio.go  a child process: one line each way is one message
//
// It knows bytes, connections and processes; eras, retries and what a message means are the session's. A carrier serves one
// conversation: where the server has lost that (errSessionLost), the session takes another carrier.
//
// Use: agreed and the opening requests come one after the other. After them send may be called by many goroutines at once, until
// close.
type carrier interface {
	// send brings one message to the server and, where it is a request (m.id != 0), waits for the reply.
	//
	// Time is the caller's: send returns when the reply is there, when the carrier cannot bring it any more, or soon after ctx has
	// ended, whatever the server does. Bytes are the carrier's: no message above maxBody, of one answer no more than maxStream and
	// maxEvents; of a stream that is shared, and so has no end, each message counts by itself.
	//
	// What comes before the reply goes to the inbox that the carrier was made with.
	//
	// The *Error is typed by explain with m.phase, or PhaseConnect where no connection came about. It is Retryable where the
	// same request may get its reply another time; whether it may be sent twice at all is the session's business. Its Err is
	// errSessionLost where the server does not know the conversation any more. A JSON-RPC error in a reply is no *Error.
	// A message without a reply is done when the server has it: then any answer is fine.
	send(ctx context.Context, m outgoing) (incoming, *Error)

	// agreed tells the protocol version that both sides speak from now on.
	agreed(version string)

	// close ends the conversation politely within ctx, and for sure in any case, also where ctx has ended before: when it
	// returns, the inbox gets nothing more, and no goroutine, stream or process of this carrier is left. The session calls it
	// once, on every carrier that it took, and ends the contexts of all sends before.
	close(ctx context.Context)
}

// outgoing is one message to the server.
type outgoing struct {
	phase  Phase
	method string   // empty: a reply to a request of the server
	id     int      // of the request; 0: a notification or a reply, so that nothing comes back
	body   []byte   // the JSON-RPC message on one line, without a line end
	paged  bool     // a request whose reply is a page of a tool list
	again  bool     // it may be sent twice
	lend   bool     // the reply may stand in memory that its reader gives back
	payer  [16]byte // whose room the reply takes; zero: nobody's
	tells  bool     // where there is HTTP, its headers say the essence, for whoever stands between and does not read the body
	name   string   // what it is about, for the headers; empty: nothing
	// header goes with this message alone where there is HTTP; nil: none.
	header http.Header
}

// incoming is the reply to one request.
type incoming struct {
	reply  *wire.Reply
	status int // of HTTP; 0: there is none
	lease  lease
}

// An inbox takes the requests and notifications of the server, in their order. stream is the id of the request on whose answer m
// came, 0 where it came on a stream that all share. It returns at once: whoever reads a stream calls it. m's bytes are the inbox's
// to keep.
type inbox func(stream int, m wire.Message)
