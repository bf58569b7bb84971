package serve

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"strings"

	"patchbay/internal/mcp/wire"
)

// requestIDPrefix marks the ids of our requests: other responses are not forwarded between processes.
const requestIDPrefix = "pb-"

// sendClientRequest sends a request to the client and waits for the response. It goes on the stream of the request that it
// belongs to; onListener: on that of the session's GET, as long as one is open in any process.
func (x *exchange) sendClientRequest(ctx context.Context, method string, params json.RawMessage, onListener bool) (json.RawMessage, error) {
	if x.peer.Session == "" || !x.acceptsStream || x.batchReply != nil {
		return nil, ErrRequestsUnsupported
	}
	id := requestIDPrefix + rand.Text()
	box := mailboxName(mailboxResponse, x.caller, x.peer.Session, id)
	responses, stored := make(chan []byte, 1), make(chan struct{}, 1)
	waiter := x.s.mailboxes.addWaiter(box, func(message []byte) {
		if message == nil {
			trySignal(stored)
			return
		}
		select {
		case responses <- bytes.Clone(message):
		default: // a second response is dropped
		}
	})
	defer x.s.mailboxes.removeWaiter(box, waiter)
	request := newClientRequest(id, method, params)
	var lost <-chan struct{} // closed when the request is on no listener's stream; nil: it never was
	if onListener {
		var stop func()
		lost, stop = x.sendOnListener(ctx, id, request)
		defer stop()
	}
	if lost == nil {
		if err := x.writeRequest(request); err != nil {
			return nil, err
		}
	}
	for {
		select {
		case <-lost:
			lost = nil
			if err := x.writeRequest(request); err != nil {
				return nil, err
			}
		case message := <-responses:
			return parseClientResponse(message)
		case <-stored:
			for _, message := range x.s.fetchMessages(ctx, x.caller, box) {
				return parseClientResponse(message)
			}
		case <-ctx.Done():
			x.cancelClientRequest(id)
			return nil, context.Cause(ctx)
		}
	}
}

// sendOnListener sends a request on the stream of the session's GET, in this process or another one. lost is closed when it
// is on none; nil: it is not sent. Call stop when it has a response.
func (x *exchange) sendOnListener(ctx context.Context, id string, request []byte) (lost <-chan struct{}, stop func()) {
	if done, ok := x.s.sessionListeners.findListener(x.caller, x.peer.Session).sendRequest(request); ok {
		return done, func() {}
	}
	if x.s.opts.Router == nil {
		return nil, func() {}
	}
	return x.startRelay(ctx, id, request)
}

func newClientRequest(id, method string, params json.RawMessage) []byte {
	members := []wire.Member{
		{Name: "jsonrpc", Value: wire.Text("2.0")}, {Name: "id", Value: wire.Text(id)}, {Name: "method", Value: wire.Text(method)},
	}
	if isObject(params) {
		members = append(members, wire.Member{Name: "params", Value: params})
	}
	return wire.Object(members)
}

func (x *exchange) writeRequest(message []byte) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.stage == finished {
		return ErrRequestsUnsupported
	}
	x.startStream()
	return x.writeEvent(message, durable)
}

func (x *exchange) cancelClientRequest(id string) {
	params := wire.Object([]wire.Member{{Name: "requestId", Value: wire.Text(id)}})
	_ = x.sendNotification("notifications/cancelled", params) // a client that is gone needs no notification
}

// parseClientResponse returns the result of a client's response, or its error as an [*RPCError].
func parseClientResponse(message []byte) (json.RawMessage, error) {
	var m wire.Incoming
	if err := wire.ReadIncoming(message, &m); err != nil {
		return nil, err
	}
	if m.Error == nil {
		return m.Result, nil
	}
	failure := &RPCError{}
	var read struct {
		Code    int
		Message string
		Data    json.RawMessage
	}
	if json.Unmarshal(m.Error, &read) == nil {
		failure.Code, failure.Message, failure.Data = read.Code, read.Message, read.Data
	}
	return nil, failure
}

// handleResponse delivers a client's response to our request, which may have been sent by another process.
func (x *exchange) handleResponse(m *wire.Incoming) {
	id, _ := wire.Unquote(m.ID)
	if x.peer.Session != "" && strings.HasPrefix(id, requestIDPrefix) {
		box := mailboxName(mailboxResponse, x.caller, x.peer.Session, id)
		if !x.s.mailboxes.deliver(box, m.Raw) {
			x.s.postMessage(x.caller, box, m.Raw, briefRetention)
		}
	}
	x.ID = nil
	x.replyAccepted()
}
