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

// maxAnswering bounds how many requests of one server are answered at once by one of those who share its session, so that one who does not
// answer leaves the others theirs; what comes on top is passed over.
const maxAnswering = 8

// Message is a notification of the server. All of it is remote text.
type Message struct {
	Method string
	Params json.RawMessage // empty: none
}

// ProgressNote is what a server says of a call's progress.
type ProgressNote struct {
	Progress float64
	Total    float64 // 0: unknown
	Message  string  // remote text
}

// InputRequest is what a server wants to know while it works on a call. All of it is remote text.
type InputRequest struct {
	Method string // "elicitation/create", "sampling/createMessage", "roots/list"
	Params json.RawMessage
}

// caller is who waits for the reply to one request, and what it wants to hear before.
type caller struct {
	progress func(ProgressNote)
	message  func(Message)
	answer   func(InputRequest) (json.RawMessage, error)
	answers  sync.WaitGroup // being made by answer
	who      [16]byte

	mu   sync.Mutex // guards what follows, and is held while progress or message is called
	gone bool
}

// tell calls one of the functions above, unless nobody waits any more.
func (w *caller) tell(do func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.gone {
		do()
	}
}

func (w *caller) leave() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.gone = true
}

// attend lets somebody hear what comes before the reply to request id, until depart returns, which takes what attend returns.
func (c *conversation) attend(id int, w *caller) (int, *caller) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.callers == nil {
		c.callers = map[int]*caller{}
	}
	c.callers[id] = w
	return id, w
}

func (c *conversation) depart(id int, w *caller) {
	c.removeCaller(id)
	w.leave()
	w.answers.Wait()
}

func (c *conversation) removeCaller(id int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.callers, id)
}

// take is the inbox of the conversation's carrier.
func (c *conversation) take(stream int, m wire.Message) {
	if m.IsRequest() {
		c.asked(stream, m)
		return
	}
	note := Message{Method: string(m.Method), Params: m.Params}
	if note.Method == "notifications/progress" {
		c.progressed(note)
		return
	}
	for _, w := range c.audience(stream) {
		w.tell(func() { w.message(note) })
	}
}

// audience is who hears a notification: who waits for the reply on whose stream it came; on a stream that all share, everybody.
func (c *conversation) audience(stream int) (all []*caller) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for id, w := range c.callers {
		if w.message != nil && (stream == 0 || stream == id) {
			all = append(all, w)
		}
	}
	return all
}

// progressed hands a progress note to the call whose token it names. The tokens are the ids of our requests.
func (c *conversation) progressed(m Message) {
	params := members(m.Params)
	var note ProgressNote
	if json.Unmarshal(params.get("progress"), &note.Progress) != nil {
		return
	}
	_ = json.Unmarshal(params.get("total"), &note.Total)
	note.Message = text(params.get("message"), maxInstructionsLength)
	token, _ := wire.Message{ID: params.get("progressToken")}.Number()
	if w := c.caller(token); w != nil && w.progress != nil {
		w.tell(func() { w.progress(note) })
	}
}

func (c *conversation) caller(id int) *caller {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.callers[id]
}

// asked answers a request of the server, besides whoever reads the stream. Where the era has none, it is passed over, and so it is
// where too many wait for an answer already.
func (c *conversation) asked(stream int, m wire.Message) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.era.asks() || c.closed {
		return
	}
	var who [16]byte // nobody: a ping needs none
	w := c.answerer(stream)
	if w != nil {
		who = w.who
	}
	if c.answering[who] >= maxAnswering {
		return
	}
	if c.answering == nil {
		c.answering = map[[16]byte]int{}
	}
	c.answering[who]++
	if w != nil {
		w.answers.Add(1)
	}
	safe.GoIn(&c.tasks, safe.Upstream, func() { c.answer(w, m) })
}

// answerer is who answers what is asked on a stream: who waits for the reply that is to come there; on a stream that all share, who
// has been waiting longest. The lock is held.
func (c *conversation) answerer(stream int) *caller {
	if stream != 0 {
		return c.callers[stream]
	}
	for _, id := range slices.Sorted(maps.Keys(c.callers)) {
		if c.callers[id].answer != nil {
			return c.callers[id]
		}
	}
	return nil
}

// answer replies to a request of the server: to ping by itself, to others by who waits for the request that they came with.
func (c *conversation) answer(w *caller, m wire.Message) {
	defer func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		var who [16]byte
		if w != nil {
			who = w.who
			w.answers.Done()
		}
		if c.answering[who]--; c.answering[who] == 0 {
			delete(c.answering, who)
		}
	}()
	_, _ = c.exchange(c.life, outgoing{phase: PhaseCall, body: replyTo(w, m)})
}

// replyTo is the reply to a request of the server. A panic of who answers is an internal error.
func replyTo(w *caller, m wire.Message) (reply []byte) {
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
		if result, err := w.answer(InputRequest{Method: string(m.Method), Params: m.Params}); err == nil {
			return wire.Result(m.ID, result)
		}
	}
	return wire.Failure(m.ID, CodeMethodNotFound, "Method not found")
}
