package mcp

import (
	"encoding/json"
	"maps"
	"slices"
	"sync"

	"patchbay/internal/mcp/revision"
	"patchbay/internal/mcp/wire"
	"patchbay/internal/safe"
)

// maxConcurrentAnswers bounds the server requests that one caller of a shared session answers at once; further ones are
// dropped.
const maxConcurrentAnswers = 8

// Message is a notification of the server, all of it remote text.
type Message struct {
	Method string
	Params json.RawMessage // empty: none
}

// ProgressNotification is one notifications/progress of a call.
type ProgressNotification struct {
	Progress float64
	Total    float64 // 0: unknown
	Message  string  // remote text
}

// InputRequest is a request of the server during a call, all of it remote text.
type InputRequest struct {
	Method string // "elicitation/create", "sampling/createMessage", "roots/list"
	Params json.RawMessage
	// OnSharedStream means that the request came outside the reply to the call: on the stream of a GET, of HTTP+SSE, or
	// from a program.
	OnSharedStream bool
}

// requestCallbacks receive what arrives before the reply to one request.
type requestCallbacks struct {
	progress  func(ProgressNotification)
	message   func(Message)
	answer    func(InputRequest) (json.RawMessage, error)
	answers   sync.WaitGroup // running answer calls
	callerKey [16]byte
	clientKey string // of a [MessageReceiver]; empty: none
	// ownStreamOnly: notifications of a shared stream may be another caller's.
	ownStreamOnly bool

	mu     sync.Mutex // guards isDone; held while progress or message runs
	isDone bool
}

// invoke calls a callback, unless the request is done.
func (c *requestCallbacks) invoke(do func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.isDone {
		do()
	}
}

func (c *requestCallbacks) markDone() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.isDone = true
}

// registerCallbacks enables callbacks for request id. unregisterCallbacks takes its results.
func (c *connection) registerCallbacks(id int, w *requestCallbacks) (int, *requestCallbacks) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.callbacks == nil {
		c.callbacks = map[int]*requestCallbacks{}
	}
	c.callbacks[id] = w
	return id, w
}

func (c *connection) unregisterCallbacks(id int, w *requestCallbacks) {
	c.removeCallbacks(id)
	w.markDone()
	w.answers.Wait()
}

func (c *connection) removeCallbacks(id int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.callbacks, id)
}

// handleMessage handles the server's own messages from the transport.
func (c *connection) handleMessage(stream int, m wire.Message) {
	if m.IsRequest() {
		c.handleServerRequest(stream, m)
		return
	}
	note := Message{Method: string(m.Method), Params: m.Params}
	if note.Method == "notifications/progress" {
		c.deliverProgress(note)
		return
	}
	c.deliverNotification(stream, note)
}

// deliverProgress passes a progress notification to the request with its token. Tokens are our request ids.
func (c *connection) deliverProgress(m Message) {
	params := readObject(m.Params)
	var note ProgressNotification
	if json.Unmarshal(params.get("progress"), &note.Progress) != nil {
		return
	}
	_ = json.Unmarshal(params.get("total"), &note.Total)
	note.Message = readString(params.get("message"), maxInstructionsLength)
	token, _ := wire.Message{ID: params.get("progressToken")}.Number()
	if w := c.findCallbacks(token); w != nil && w.progress != nil {
		w.invoke(func() { w.progress(note) })
	}
}

func (c *connection) findCallbacks(id int) *requestCallbacks {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.callbacks[id]
}

// handleServerRequest answers a request of the server in the background. It is dropped if the era has none, or
// too many answers are running.
func (c *connection) handleServerRequest(stream int, m wire.Message) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.era.hasServerRequests() || c.isClosed {
		return
	}
	var callerKey [16]byte // zero for a ping, which has no caller
	w := c.findAnswerer(stream)
	if w != nil {
		callerKey = w.callerKey
	}
	if c.answering[callerKey] >= maxConcurrentAnswers {
		return
	}
	if c.answering == nil {
		c.answering = map[[16]byte]int{}
	}
	c.answering[callerKey]++
	if w != nil {
		w.answers.Add(1)
	}
	safe.GoIn(&c.background, safe.Upstream, func() { c.answerServerRequest(w, stream, m) })
}

// findAnswerer returns the callbacks that answer a request: of the stream's own request, or of the oldest
// request if the stream is shared. mu is held.
func (c *connection) findAnswerer(stream int) *requestCallbacks {
	if stream != 0 {
		return c.callbacks[stream]
	}
	for _, id := range slices.Sorted(maps.Keys(c.callbacks)) {
		if c.callbacks[id].answer != nil {
			return c.callbacks[id]
		}
	}
	return nil
}

func (c *connection) answerServerRequest(w *requestCallbacks, stream int, m wire.Message) {
	defer func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		var callerKey [16]byte
		if w != nil {
			callerKey = w.callerKey
			w.answers.Done()
		}
		if c.answering[callerKey]--; c.answering[callerKey] == 0 {
			delete(c.answering, callerKey)
		}
	}()
	_, _ = c.exchangeMessage(c.ctx, outgoingMessage{phase: PhaseCall, body: newReply(w, stream, m)})
}

// newReply returns the reply to a request of the server. A panic of the callback is an internal error.
func newReply(w *requestCallbacks, stream int, m wire.Message) (reply []byte) {
	defer func() {
		if v := recover(); v != nil {
			_ = safe.Caught(safe.Upstream, v)
			reply = wire.Failure(m.ID, revision.CodeInternal, "Internal error")
		}
	}()
	switch {
	case string(m.Method) == "ping":
		return wire.Result(m.ID, []byte("{}"))
	case w != nil && w.answer != nil:
		if result, err := w.answer(InputRequest{Method: string(m.Method), Params: m.Params, OnSharedStream: stream == 0}); err == nil {
			return wire.Result(m.ID, result)
		}
	}
	return wire.Failure(m.ID, CodeMethodNotFound, "Method not found")
}
