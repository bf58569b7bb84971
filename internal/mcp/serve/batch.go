package serve

import (
	"net/http"

	"patchbay/internal/mcp/revision"
	"patchbay/internal/mcp/wire"
)

// Bounds of one batch: its responses stay in memory until the last is there.
const (
	maxBatchSize  = 100
	maxBatchReply = 16 << 20 // bytes; further requests of the batch are refused
)

var errBatchFull = &RPCError{Code: revision.CodeInternal, Message: "The previous responses fill the batch. Send this request on its own."}

// serveBatch answers an array of messages (2025-03-26), one after the other. No notification is sent before the
// responses.
func (r *httpRequest) serveBatch(x *exchange, text []byte) {
	messages, err := wire.ReadBatch(text)
	if err != nil {
		x.sendError(parseError(err))
		return
	}
	if failure := x.checkBatch(messages); failure != nil {
		x.sendError(failure)
		return
	}
	if failure := r.chargeBatch(len(messages) - 1); failure != nil {
		x.sendError(failure)
		return
	}
	answers := []byte{'['}
	for i := range messages {
		answers = r.appendBatchReply(&messages[i], answers)
	}
	x.bodyReleased = false // the backend has seen parts of the body
	if len(answers) == 1 {
		x.w.WriteHeader(http.StatusAccepted)
		return
	}
	x.sendFinal(http.StatusOK, append(answers, ']'))
}

func (r *httpRequest) appendBatchReply(m *wire.Incoming, answers []byte) []byte {
	before := len(answers)
	if before > 1 {
		answers = append(answers, ',')
	}
	start := len(answers)
	if start > maxBatchReply && m.Method != nil && m.ID != nil && isValidID(m.ID) {
		return errBatchFull.appendMessage(answers, m.ID)
	}
	one := &exchange{httpRequest: *r, acceptsJSON: true, batchReply: &answers}
	one.serveMessage(m)
	if len(answers) == start {
		return answers[:before]
	}
	return answers
}

// chargeBatch charges the messages beyond the first, which is charged with the HTTP request.
func (r *httpRequest) chargeBatch(more int) *RPCError {
	if b, ok := r.backend.(MessageLimiter); ok && more > 0 {
		return b.Charge(r.w.Header(), more)
	}
	return nil
}

// checkBatch validates the version, size and methods of a batch.
func (x *exchange) checkBatch(messages []wire.Incoming) *RPCError {
	if failure := x.identifyPeer(); failure != nil {
		return failure
	}
	if !revision.Batched(x.peer.Version) {
		return invalidRequest("The body must be one JSON-RPC message, not a batch.")
	}
	if len(messages) == 0 || len(messages) > maxBatchSize {
		return invalidRequest("The batch is empty, or too long.")
	}
	for i := range messages {
		if method, _ := wire.Unquote(messages[i].Method); method == "initialize" || messages[i].Version != nil {
			return invalidRequest("This request cannot be part of a batch.")
		}
	}
	return nil
}
