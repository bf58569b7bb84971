package toolcall

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/mcp"
	"patchbay/internal/safe"
)

// A server of the handshake era asks in the middle of a call, and a client of the modern era answers with another request. Between the two
// the call is a talk: it goes on besides its requests, in the process that began it, and stands still while a question is open.
//
//	Call ──► talk ──► question ──► InputRequired, with a state that names the talk
//	Call with Input, at any process ──► the answer ──► the next question, or the result

// talkLife is how long a question stays open.
const talkLife = 10 * time.Minute

// talks are those of this process. The zero value works.
type talks struct {
	mu sync.Mutex
	of map[connectors.ToolCallID]*talk // guarded by mu
}

func (t *talks) find(id connectors.ToolCallID) *talk {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.of[id]
}

func (t *talks) add(k *talk) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.of == nil {
		t.of = map[connectors.ToolCallID]*talk{}
	}
	t.of[k.id] = k
}

func (t *talks) drop(k *talk) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.of, k.id)
}

// talk is a call that goes on over several requests.
type talk struct {
	c      *Caller
	id     connectors.ToolCallID
	order  Order // of the first request
	cancel context.CancelCauseFunc
	asks   chan *question
	turn   chan struct{} // holds one: a question at a time
	done   chan struct{} // closed when the call has ended; then out and err are set
	out    Outcome
	err    error

	mu     sync.Mutex // guards what follows
	asked  int
	open   *question   // nil: none
	busy   bool        // a request waits for what comes next
	client Client      // of that request
	expiry *time.Timer // while nobody waits
}

type question struct {
	ctx    context.Context //nolint:containedctx // of the call: a question is open as long as it lasts
	key    string
	method string
	params json.RawMessage
	answer chan json.RawMessage
}

// isTalk tells whether a call's server may ask what its client answers with another request.
func isTalk(o *Order) bool {
	return o.MultiRound && o.Ask == nil && len(o.Capabilities) > 2 && o.Tool.Reach.Connector.Era != string(mcp.EraModern) && asked(o.Capabilities) != ""
}

// converse begins a talk.
func (c *Caller) converse(ctx context.Context, o Order) (Outcome, error) {
	if o.ID == (connectors.ToolCallID{}) {
		o.ID = newCallID()
	}
	o.Arguments, o.Meta, o.Capabilities = bytes.Clone(o.Arguments), bytes.Clone(o.Meta), bytes.Clone(o.Capabilities)
	k := &talk{c: c, id: o.ID, order: o, asks: make(chan *question), turn: make(chan struct{}, 1), done: make(chan struct{})}
	within, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	k.cancel = cancel
	heard := o
	heard.Lend = false // several may ask what came of it, at another process, too, and when the first one has read it
	heard.Client = Client{Ask: k.ask, Capabilities: o.Capabilities, Task: o.Task, Message: k.tell}
	if o.Progress != nil {
		heard.Progress = k.progress
	}
	k.enter(o.Client)
	defer k.leave()
	c.talks.add(k)
	safe.Go(safe.Call, func() { // Stop waits for the call in it
		defer close(k.done)
		defer safe.RecoverTo(safe.Call, &k.err)
		k.out, k.err = c.callNow(within, &heard)
	})
	return k.await(ctx)
}

// enter makes a client the one that hears what comes next. ok is false where another one waits already.
func (k *talk) enter(client Client) (ok bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.busy {
		return false
	}
	k.busy, k.client = true, client
	if k.expiry != nil {
		k.expiry.Stop()
	}
	return true
}

func (k *talk) leave() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.busy, k.client = false, Client{}
	k.expiry = time.AfterFunc(talkLife, func() {
		defer safe.Recover(safe.Timer)
		k.cancel(errTimeout)
		k.c.talks.drop(k)
	})
}

func (k *talk) tell(method string, params json.RawMessage) {
	k.mu.Lock()
	hear := k.client.Message
	k.mu.Unlock()
	if hear != nil {
		hear(method, params)
	}
}

func (k *talk) progress(params json.RawMessage) {
	k.mu.Lock()
	hear := k.client.Progress
	k.mu.Unlock()
	if hear != nil {
		hear(params)
	}
}

// ask is the server's question. It returns with the client's answer.
func (k *talk) ask(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	select {
	case k.turn <- struct{}{}:
		defer func() { <-k.turn }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	k.mu.Lock()
	k.asked++
	q := &question{ctx: ctx, key: fmt.Sprintf("q%d", k.asked), method: method, params: params, answer: make(chan json.RawMessage, 1)}
	k.mu.Unlock()
	select {
	case k.asks <- q:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	select {
	case answer := <-q.answer:
		return answer, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// await waits for the next question or the end. Call it between enter and leave.
func (k *talk) await(ctx context.Context) (Outcome, error) {
	select {
	case q := <-k.asks:
		return k.suspend(q)
	case <-k.done:
	case <-ctx.Done():
		k.cancel(context.Cause(ctx))
		<-k.done
	}
	k.cancel(nil)
	k.c.talks.drop(k)
	return k.out, k.err
}

// suspend hands a question out.
func (k *talk) suspend(q *question) (Outcome, error) {
	k.mu.Lock()
	k.open = q
	k.mu.Unlock()
	a := attempt{Caller: k.c, order: &k.order, reach: k.order.Tool.Reach}
	handle, err := k.c.sealHandle(k.order.View, purposeState, state{Call: a.hash(), Until: k.c.o.Now().Add(stateLife), Talk: &k.id})
	if err != nil {
		return Outcome{}, err
	}
	params := q.params
	if len(params) == 0 {
		params = json.RawMessage("{}")
	}
	raw := fmt.Sprintf(`{"resultType":"input_required","inputRequests":{%q:{"method":%s,"params":%s}},"requestState":%s}`,
		q.key, stringOf(q.method), params, handle)
	return Outcome{CallID: k.id, Raw: json.RawMessage(raw), InputRequired: true}, nil
}

// answer gives the server what the client answered. A question without an answer stays open.
func (k *talk) answer(responses json.RawMessage) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.open == nil {
		return
	}
	if given, _ := member(responses, k.open.key); given != nil {
		k.open.answer <- bytes.Clone(given)
		k.open = nil
	}
}

// resume goes on with a talk. One whose question stays open is asked again.
func (k *talk) resume(ctx context.Context, in *mcp.Input, client Client) (Outcome, error) {
	if !k.enter(client) {
		return Outcome{}, &BadArguments{Sentence: "This call goes on with another request already."}
	}
	defer k.leave()
	k.answer(in.Responses)
	open := k.question()
	if open == nil {
		return k.await(ctx)
	}
	return k.suspend(open)
}

// question is the one that is open; nil: none is. A cancelled call ends a moment after its context.
func (k *talk) question() *question {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.open != nil && k.open.ctx.Err() != nil {
		k.open = nil
	}
	return k.open
}
