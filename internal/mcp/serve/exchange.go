package serve

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"patchbay/internal/mcp/wire"
	"patchbay/internal/safe"
)

// exchange is one message and what is sent back for it: JSON, or an event stream from the first thing on that is said before the
// answer.
type exchange struct {
	visit
	Request
	peer        Peer
	level       level // of the messages that the client wants to see
	takesJSON   bool
	takesStream bool
	collected   *[]byte // of a batch: where the answer goes
	prepared    bool    // the answer is one that all share
	short       []byte  // the body, where it is no pooled one

	mu    sync.Mutex // guards what follows: events come from several sides
	stage stage
	timer *time.Timer // for the first comment; nil: there will be none
	out   writer      // nil: nothing was sent yet
	tape  *tape       // what the client may ask for again, and out; nil: it cannot
}

// stage is how far a reply is.
type stage int

const (
	silent stage = iota
	streaming
	over
)

// serve has the backend answer.
func (x *exchange) serve(m *wire.Incoming) {
	if failure := x.fill(m); failure != nil {
		x.refuse(failure)
		return
	}
	if cacheable[x.Method] {
		if result := x.backend.Prepared(x.Method, x.Cursor, x.Peer); result != nil {
			x.prepared = true
			x.answer("", result)
			return
		}
	}
	x.released = false
	ctx, done := x.context()
	defer done()
	defer x.close()
	x.await()
	result, err := x.result(ctx)
	if x.after != nil {
		defer x.after()
	}
	switch {
	case err != nil:
		x.fail(ctx, err)
	case !isObject(result):
		x.s.opts.Log.ErrorContext(ctx, "result is not an object", "method", x.Method)
		x.refuse(internalError)
	case x.peer.Modern:
		result = private(x.Method, result)
		x.answer(lacking(x.Method, result), result)
	default:
		x.answer("", result)
	}
}

// result has the backend serve the request. Its panic fails this request alone.
func (x *exchange) result(ctx context.Context) (result json.RawMessage, err error) {
	defer func() {
		v := recover()
		switch v {
		case nil:
		case http.ErrAbortHandler:
			panic(v)
		default:
			_ = safe.CaughtBy(x.s.opts.Log, safe.Message, v, slog.String("method", x.Method))
			result, err = nil, internalError
		}
	}()
	return x.backend.Serve(ctx, &x.Request)
}

// fill completes the request for the backend.
func (x *exchange) fill(m *wire.Incoming) *RPCError {
	x.Peer = &x.peer
	x.Params, x.Arguments, x.Meta, x.token = m.Params, m.Arguments, m.Meta, m.ProgressToken
	x.Header, x.RemoteAddr, x.Continues = x.r.Header, x.r.RemoteAddr, m.Continues
	x.exchange = x
	if x.token != nil && !validID(x.token) {
		x.token = nil
	}
	if m.Cursor != nil && string(m.Cursor) != "null" {
		var ok bool
		if x.Cursor, ok = wire.Unquote(m.Cursor); !ok {
			return InvalidParams("The cursor must be a string.")
		}
	}
	return nil
}

// context is the one of the request, and ends as its era has it: in the modern one with the connection, as the HTTP request's own does.
func (x *exchange) context() (ctx context.Context, done func()) {
	if x.peer.Modern {
		return x.r.Context(), func() {}
	}
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(x.r.Context()))
	me, failure := x.s.requests.join(x.who, func() { cancel(ErrCancelled) })
	if failure != nil {
		cancel(ErrCancelled)
		return ctx, func() {}
	}
	leave := x.cancellable(cancel)
	return ctx, func() { leave(); x.s.requests.leave(me); cancel(nil) }
}

// fail answers with what the backend failed with.
func (x *exchange) fail(ctx context.Context, err error) {
	if rpc, ok := errors.AsType[*RPCError](err); ok {
		x.refuse(rpc)
		return
	}
	if errors.Is(context.Cause(ctx), ErrCancelled) || x.peer.Modern && ctx.Err() != nil {
		x.refuse(cancelled)
		return
	}
	if !safe.IsPanic(err) {
		x.s.opts.Log.ErrorContext(ctx, "request failed", "method", x.Method, "reason", err)
	}
	x.refuse(internalError)
}

// close sees to it that nothing is written once the handler has returned, or panicked.
func (x *exchange) close() {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.timer != nil {
		x.timer.Stop()
	}
	if x.stage != over {
		x.stage = over
		x.tape.end()
	}
}

// await sees to it that a client which waits long gets to read something.
func (x *exchange) await() {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.takesStream && x.collected == nil {
		x.timer = time.AfterFunc(x.s.opts.Silence, x.breathe)
	}
}

// breathe writes a comment, and comes back.
func (x *exchange) breathe() {
	defer safe.Recover(safe.Timer)
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.stage == over {
		return
	}
	x.open()
	_ = x.out.write(keepAlive) // whoever reads the stream shows at the next event
	x.timer.Reset(x.s.opts.KeepAlive)
}

// open makes a stream of the reply. mu is held.
func (x *exchange) open() {
	if x.stage != silent {
		return
	}
	x.stage = streaming
	st := openStream(&x.visit)
	x.out = st
	if x.peer.Session != "" {
		x.tape = x.s.tapes.begin(&x.visit, &x.peer, st)
		x.out = x.tape
	}
	if x.timer != nil {
		x.timer.Reset(x.s.opts.KeepAlive)
	}
}

// notify sends a notification ahead of the answer.
func (x *exchange) notify(method string, params json.RawMessage) error {
	if !x.takesStream || x.collected != nil || method == "notifications/message" && levelIn(params) < x.level {
		return nil
	}
	if !isObject(params) {
		params = nil
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.stage == over {
		return nil
	}
	x.open()
	return x.event(wire.Notification(method, params), passing)
}

// event sends a message on the stream. mu is held.
func (x *exchange) event(message []byte, how weight) error {
	b := buffer()
	defer reuse(b)
	*b = beginEvent(*b, x.tape.next())
	from := len(*b)
	*b = endEvent(append(*b, message...), from)
	if x.tape != nil {
		return x.tape.keep(*b, how)
	}
	return x.out.write(*b)
}
