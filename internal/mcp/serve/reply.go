package serve

import (
	"net/http"
	"strconv"
)

// maxCopied is the largest result in bytes that is copied into one buffer; a larger one is written from its own
// slice.
const maxCopied = 64 << 10

// sendResult sends the result with members inserted in front of its own.
func (x *exchange) sendResult(members string, result []byte) {
	b := getBuffer()
	defer putBuffer(b)
	*b = append(append(append(*b, `{"jsonrpc":"2.0","id":`...), x.ID...), `,"result":`...)
	if len(result) > maxCopied && x.canReplyJSON() {
		x.sendLargeResult(*b, members, result)
		return
	}
	*b = append(appendResult(*b, members, result), '}')
	x.sendFinal(http.StatusOK, *b)
}

// canReplyJSON reports whether nothing was sent yet and the response may be JSON.
func (x *exchange) canReplyJSON() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.stage == notStarted && x.batchReply == nil && x.acceptsJSON
}

// sendLargeResult writes a large result without copying it.
func (x *exchange) sendLargeResult(head []byte, members string, result []byte) {
	if !x.claimPlainReply(true) {
		x.sendFinal(http.StatusOK, append(appendResult(head, members, result), '}')) // the stream has begun meanwhile
		return
	}
	if members != "" {
		// Members are inserted after the brace, which is written with the head. A large object is not empty.
		head, result = append(append(head, '{'), members...), result[1:]
	}
	tail := []byte{'}'}
	h := x.w.Header()
	h["Content-Type"] = contentJSON
	h["Content-Length"] = []string{strconv.Itoa(len(head) + len(result) + len(tail))}
	st := x.newStream()
	st.isShared = x.isCachedResult
	x.reportUndelivered(st.sendParts(head, result, tail))
}

func (x *exchange) sendError(e *RPCError) {
	b := getBuffer()
	defer putBuffer(b)
	*b = e.appendMessage(*b, x.ID)
	x.sendFinal(e.httpStatus(x.peer.Modern), *b)
}

func (x *exchange) sendFinal(status int, message []byte) {
	switch {
	case !x.claimPlainReply(x.acceptsJSON || status != http.StatusOK):
		x.mu.Lock()
		defer x.mu.Unlock()
		x.startStream()
		x.reportUndelivered(x.writeEvent(message, final)) // nil if it is stored and can be resumed
		x.stage = finished
		x.resumable.finish()
	case x.batchReply != nil:
		*x.batchReply = append(*x.batchReply, message...)
	default:
		x.writeJSON(status, message)
	}
}

// claimPlainReply claims the reply for one message without a stream, and reports whether it may be sent. After
// that nothing else is sent.
func (x *exchange) claimPlainReply(json bool) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.keepAliveTimer != nil {
		x.keepAliveTimer.Stop()
	}
	if x.stage != notStarted || !json && x.batchReply == nil {
		return false
	}
	x.stage = finished
	return true
}

func (x *exchange) reportUndelivered(err error) {
	if b, ok := x.backend.(DeliveryObserver); ok && err != nil && x.Peer != nil {
		b.ResponseUndelivered(&x.Request)
	}
}

var contentJSON = []string{"application/json"}

func (x *exchange) writeJSON(status int, message []byte) {
	h := x.w.Header()
	h["Content-Type"] = contentJSON
	h["Content-Length"] = []string{strconv.Itoa(len(message))}
	if status != http.StatusOK {
		x.w.WriteHeader(status)
	}
	st := x.newStream()
	x.reportUndelivered(st.sendParts(message))
}

// writeError sends an error for a request that is no valid message.
func writeError(w http.ResponseWriter, id []byte, e *RPCError) {
	w.Header()["Content-Type"] = contentJSON
	w.WriteHeader(e.httpStatus(false))
	_, _ = w.Write(e.appendMessage(nil, id))
}
