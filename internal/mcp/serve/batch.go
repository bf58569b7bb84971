package serve

import (
	"net/http"

	"patchbay/internal/mcp/revision"
	"patchbay/internal/mcp/wire"
)

// What one HTTP request may ask for, and get: the answers stand in memory until the last is there.
const (
	mostBatched   = 100
	mostCollected = 16 << 20 // bytes, after which the rest is refused
)

var errBatchFull = &RPCError{Code: revision.CodeInternal, Message: "The answers before this one fill the batch. Send this request by itself."}

// batch answers several messages in an array, one after the other. They are of 2025-03-26, and nothing is said before the answers.
func (v *visit) batch(x *exchange, text []byte) {
	messages, err := wire.ReadBatch(text)
	if err != nil {
		x.refuse(unreadable(err))
		return
	}
	if failure := x.batchable(messages); failure != nil {
		x.refuse(failure)
		return
	}
	if failure := v.charge(len(messages) - 1); failure != nil {
		x.refuse(failure)
		return
	}
	answers := []byte{'['}
	for i := range messages {
		answers = v.batched(&messages[i], answers)
	}
	x.released = false // the backend has seen what it was asked
	if len(answers) == 1 {
		x.w.WriteHeader(http.StatusAccepted)
		return
	}
	x.finish(http.StatusOK, append(answers, ']'))
}

// batched appends the answer to one message.
func (v *visit) batched(m *wire.Incoming, answers []byte) []byte {
	before := len(answers)
	if before > 1 {
		answers = append(answers, ',')
	}
	start := len(answers)
	if start > mostCollected && m.Method != nil && m.ID != nil && validID(m.ID) {
		return errBatchFull.append(answers, m.ID)
	}
	one := &exchange{visit: *v, takesJSON: true, collected: &answers}
	one.message(m)
	if len(answers) == start {
		return answers[:before]
	}
	return answers
}

// charge tells the backend of what comes with the first message, whose request it has seen.
func (v *visit) charge(more int) *RPCError {
	if b, ok := v.backend.(Meter); ok && more > 0 {
		return b.Charge(v.w.Header(), more)
	}
	return nil
}

// batchable tells whether the messages may travel together.
func (x *exchange) batchable(messages []wire.Incoming) *RPCError {
	if failure := x.recognise(); failure != nil {
		return failure
	}
	if !revision.Batched(x.peer.Version) {
		return invalid("The body must be one JSON-RPC message, not a batch.")
	}
	if len(messages) == 0 || len(messages) > mostBatched {
		return invalid("The batch is empty, or too long.")
	}
	for i := range messages {
		if method, _ := wire.Unquote(messages[i].Method); method == "initialize" || messages[i].Version != nil {
			return invalid("This request cannot be a part of a batch.")
		}
	}
	return nil
}
