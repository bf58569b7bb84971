package serve

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"strings"

	"patchbay/internal/mcp/wire"
)

// ourID begins the ids of our requests, so that an answer to somebody else's is not carried about.
const ourID = "pb-"

// ask sends a request to the client, on the stream of the request that it belongs to, and waits for the answer.
func (x *exchange) ask(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	if x.peer.Session == "" || !x.takesStream || x.collected != nil {
		return nil, ErrCannotAsk
	}
	id := ourID + rand.Text()
	box := boxName(boxAnswer, x.who, x.peer.Session, id)
	answers, elsewhere := make(chan []byte, 1), make(chan struct{}, 1)
	waiting := x.s.boxes.wait(box, func(message []byte) {
		if message == nil {
			signal(elsewhere)
			return
		}
		select {
		case answers <- bytes.Clone(message):
		default: // the client answers once
		}
	})
	defer x.s.boxes.leave(box, waiting)
	if err := x.send(asked(id, method, params)); err != nil {
		return nil, err
	}
	for {
		select {
		case message := <-answers:
			return readAnswer(message)
		case <-elsewhere:
			for _, message := range x.s.fetch(ctx, x.who, box) {
				return readAnswer(message)
			}
		case <-ctx.Done():
			x.withdraw(id)
			return nil, context.Cause(ctx)
		}
	}
}

func asked(id, method string, params json.RawMessage) []byte {
	members := []wire.Member{
		{Name: "jsonrpc", Value: wire.Text("2.0")}, {Name: "id", Value: wire.Text(id)}, {Name: "method", Value: wire.Text(method)},
	}
	if isObject(params) {
		members = append(members, wire.Member{Name: "params", Value: params})
	}
	return wire.Object(members)
}

// send puts a request of ours on the stream.
func (x *exchange) send(message []byte) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.stage == over {
		return ErrCannotAsk
	}
	x.open()
	return x.event(message, lasting)
}

// withdraw tells the client that its answer is not wanted any more.
func (x *exchange) withdraw(id string) {
	params := wire.Object([]wire.Member{{Name: "requestId", Value: wire.Text(id)}})
	_ = x.notify("notifications/cancelled", params) // who is gone need not know
}

// readAnswer is what the client said.
func readAnswer(message []byte) (json.RawMessage, error) {
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

// answered takes what a client answered to a request of ours, which may be one of another process.
func (x *exchange) answered(m *wire.Incoming) {
	id, _ := wire.Unquote(m.ID)
	if x.peer.Session != "" && strings.HasPrefix(id, ourID) {
		box := boxName(boxAnswer, x.who, x.peer.Session, id)
		if !x.s.boxes.tell(box, m.Raw) {
			x.s.mail(x.who, box, m.Raw, briefly)
		}
	}
	x.ID = nil
	x.accept()
}
