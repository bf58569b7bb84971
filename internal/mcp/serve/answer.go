package serve

import (
	"net/http"
	"strconv"
)

// mostCopied is what is cheaper to copy into one write than to write apart.
const mostCopied = 64 << 10

// answer ends the exchange with a result, in front of whose members others are put.
func (x *exchange) answer(members string, result []byte) {
	b := buffer()
	defer reuse(b)
	*b = append(append(append(*b, `{"jsonrpc":"2.0","id":`...), x.ID...), `,"result":`...)
	if len(result) > mostCopied && x.whole() {
		x.answerApart(*b, members, result)
		return
	}
	*b = append(appendResult(*b, members, result), '}')
	x.finish(http.StatusOK, *b)
}

// whole tells whether nothing was sent yet, and the answer may be JSON.
func (x *exchange) whole() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.stage == silent && x.collected == nil && x.takesJSON
}

// answerApart writes a long result from where it stands.
func (x *exchange) answerApart(head []byte, members string, result []byte) {
	if !x.end(true) {
		x.finish(http.StatusOK, append(appendResult(head, members, result), '}')) // the stream has begun meanwhile
		return
	}
	if members != "" {
		// What is inserted stands behind the brace, which is written with the head. Long objects are not empty.
		head, result = append(append(head, '{'), members...), result[1:]
	}
	tail := []byte{'}'}
	h := x.w.Header()
	h["Content-Type"] = contentJSON
	h["Content-Length"] = []string{strconv.Itoa(len(head) + len(result) + len(tail))}
	st := x.reply()
	st.shared = x.prepared
	x.lost(st.send(head, result, tail))
}

// refuse ends the exchange with an error.
func (x *exchange) refuse(e *RPCError) {
	b := buffer()
	defer reuse(b)
	*b = e.append(*b, x.ID)
	x.finish(e.status(x.peer.Modern), *b)
}

// finish sends the last message.
func (x *exchange) finish(status int, message []byte) {
	switch {
	case !x.end(x.takesJSON || status != http.StatusOK):
		x.mu.Lock()
		defer x.mu.Unlock()
		x.open()
		x.lost(x.event(message, final)) // nil where it is kept, and can be asked for again
		x.stage = over
		x.tape.end()
	case x.collected != nil:
		*x.collected = append(*x.collected, message...)
	default:
		x.writeJSON(status, message)
	}
}

// end tells whether the answer is all that there is to send, and may be JSON; then nothing else is sent from now on.
func (x *exchange) end(json bool) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.timer != nil {
		x.timer.Stop()
	}
	if x.stage != silent || !json && x.collected == nil {
		return false
	}
	x.stage = over
	return true
}

// lost tells the backend of an answer that did not leave. Who does not read it does not get it.
func (x *exchange) lost(err error) {
	if b, ok := x.backend.(Witness); ok && err != nil && x.Peer != nil {
		b.Lost(&x.Request)
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
	st := x.reply()
	x.lost(st.send(message))
}

// writeError answers what is no message, or not one of a client's that may speak.
func writeError(w http.ResponseWriter, id []byte, e *RPCError) {
	w.Header()["Content-Type"] = contentJSON
	w.WriteHeader(e.status(false))
	_, _ = w.Write(e.append(nil, id))
}
