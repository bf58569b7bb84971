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

// exchange is one message and its reply: JSON, or an event stream once something is sent before the response.
type exchange struct {
	httpRequest
	Request
	peer           Client
	minLevel       logLevel // of log messages that the client wants
	acceptsJSON    bool
	acceptsStream  bool
	batchReply     *[]byte // of a batch: where the response is appended
	isCachedResult bool    // the response is a cached one that callers share
	smallBody      []byte  // the body's buffer, if not pooled

	mu             sync.Mutex // guards the fields below: several goroutines send events
	stage          replyStage
	keepAliveTimer *time.Timer      // for the first comment; nil: none is sent
	out            eventWriter      // nil: nothing was sent yet
	resumable      *resumableStream // what the client may resume, around out; nil: not resumable
}

// replyStage is the progress of a reply.
type replyStage int

const (
	notStarted replyStage = iota
	streaming
	finished
)

func (x *exchange) serveRequest(m *wire.Incoming) {
	if failure := x.fillRequest(m); failure != nil {
		x.sendError(failure)
		return
	}
	if cacheable[x.Method] {
		if result := x.backend.CachedResult(x.Method, x.Cursor, x.Peer); result != nil {
			x.isCachedResult = true
			x.sendResult("", result)
			return
		}
	}
	x.bodyReleased = false
	ctx, release := x.requestContext()
	defer release()
	defer x.close()
	x.startKeepAlive()
	result, err := x.result(ctx)
	if x.afterReply != nil {
		defer x.afterReply()
	}
	switch {
	case err != nil:
		x.sendBackendError(ctx, err)
	case !isObject(result):
		x.s.opts.Log.ErrorContext(ctx, "result is not an object", "method", x.Method)
		x.sendError(internalError)
	case x.peer.Modern:
		result = withPrivateScope(x.Method, result)
		x.sendResult(missingMembers(x.Method, result), result)
	default:
		x.sendResult("", result)
	}
}

// result calls the backend's Serve. A panic fails this request alone.
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

func (x *exchange) fillRequest(m *wire.Incoming) *RPCError {
	x.Peer = &x.peer
	x.Params, x.Arguments, x.Meta, x.Task, x.progressToken = m.Params, m.Arguments, m.Meta, m.Task, m.ProgressToken
	x.Header, x.RemoteAddr, x.IsResumed = x.r.Header, x.r.RemoteAddr, m.Continues
	x.exchange = x
	if x.progressToken != nil && !isValidID(x.progressToken) {
		x.progressToken = nil
	}
	if m.Cursor != nil && string(m.Cursor) != "null" {
		var ok bool
		if x.Cursor, ok = wire.Unquote(m.Cursor); !ok {
			return InvalidParams("The cursor must be a string.")
		}
	}
	return nil
}

// requestContext returns the context of the request. In the modern era it ends with the connection; in the
// handshake era by notifications/cancelled.
func (x *exchange) requestContext() (ctx context.Context, release func()) {
	if x.peer.Modern {
		return x.r.Context(), func() {}
	}
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(x.r.Context()))
	entry, failure := x.s.requests.add(x.caller, func() { cancel(ErrCancelled) })
	if failure != nil {
		cancel(ErrCancelled)
		return ctx, func() {}
	}
	unwatch := x.watchCancellation(cancel)
	return ctx, func() { unwatch(); x.s.requests.remove(entry); cancel(nil) }
}

func (x *exchange) sendBackendError(ctx context.Context, err error) {
	if rpc, ok := errors.AsType[*RPCError](err); ok {
		x.sendError(rpc)
		return
	}
	if errors.Is(context.Cause(ctx), ErrCancelled) || x.peer.Modern && ctx.Err() != nil {
		x.sendError(cancelledError)
		return
	}
	if !safe.IsPanic(err) {
		x.s.opts.Log.ErrorContext(ctx, "request failed", "method", x.Method, "reason", err)
	}
	x.sendError(internalError)
}

// close ends the reply: nothing is written after the handler returned or panicked.
func (x *exchange) close() {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.keepAliveTimer != nil {
		x.keepAliveTimer.Stop()
	}
	if x.stage != finished {
		x.stage = finished
		x.resumable.finish()
	}
}

// startKeepAlive starts the timer that turns a silent reply into a stream with comments.
func (x *exchange) startKeepAlive() {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.acceptsStream && x.batchReply == nil {
		x.keepAliveTimer = time.AfterFunc(x.s.opts.StreamAfter, x.writeKeepAlive)
	}
}

// writeKeepAlive writes an SSE comment and rearms the timer.
func (x *exchange) writeKeepAlive() {
	defer safe.Recover(safe.Timer)
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.stage == finished {
		return
	}
	x.startStream()
	_ = x.out.write(keepAlive) // a disconnect shows at the next event
	x.keepAliveTimer.Reset(x.s.opts.KeepAlive)
}

// startStream turns the reply into an event stream. The caller holds mu.
func (x *exchange) startStream() {
	if x.stage != notStarted {
		return
	}
	x.stage = streaming
	st := openEventStream(&x.httpRequest)
	x.out = st
	if x.peer.Session != "" {
		x.resumable = x.s.resumable.start(&x.httpRequest, &x.peer, st)
		x.out = x.resumable
	}
	if x.keepAliveTimer != nil {
		x.keepAliveTimer.Reset(x.s.opts.KeepAlive)
	}
}

func (x *exchange) sendNotification(method string, params json.RawMessage) error {
	if !x.acceptsStream || x.batchReply != nil || method == logMessage && messageLevel(params) < x.minLevel {
		return nil
	}
	if !isObject(params) {
		params = nil
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.stage == finished {
		return nil
	}
	x.startStream()
	return x.writeEvent(wire.Notification(method, params), transient)
}

// writeEvent writes a message to the stream. The caller holds mu.
func (x *exchange) writeEvent(message []byte, kept durability) error {
	b := getBuffer()
	defer putBuffer(b)
	*b = beginEvent(*b, x.resumable.nextEventID())
	from := len(*b)
	*b = endEvent(append(*b, message...), from)
	if x.resumable != nil {
		return x.resumable.writeStored(*b, kept)
	}
	return x.out.write(*b)
}
