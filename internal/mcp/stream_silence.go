package mcp

import (
	"context"
	"errors"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"patchbay/internal/safe"
)

// A server's own stream may be silent for hours, and so is one that a dead peer or a proxy dropped without closing the
// connection. TCP keep-alive notices a host that is gone, but no hung server and no proxy.
const (
	silenceBeforeCheck = 2 * time.Minute // without a byte, comments included: the server is asked for a sign of life
	maxSilence         = time.Hour       // the stream is opened anew although the server answers
)

var errSilentStream = errors.New("stream silent, reopening it")

// silenceWatch ends a stream on which no byte arrives.
type silenceWatch struct {
	isAnswering func(context.Context) bool // asks the server for a sign of life
	src         io.Reader
	lastByte    atomic.Int64    // Unix time in nanoseconds; reads store it, and reset no timer
	ctx         context.Context //nolint:containedctx // of the stream's request
	cancel      context.CancelCauseFunc

	mu    sync.Mutex  // guards timer
	timer *time.Timer // of the next check
}

// watchSilence begins to watch a stream that is about to be requested with the returned context: many servers send no
// headers before their first message. Call cancelStream after use.
func (c *httpTransport) watchSilence(ctx context.Context) (*silenceWatch, context.Context) {
	w := &silenceWatch{isAnswering: c.isAnswering}
	w.ctx, w.cancel = context.WithCancelCause(ctx)
	if c.isAnswering != nil {
		w.lastByte.Store(time.Now().UnixNano())
		w.scheduleCheck(silenceBeforeCheck)
	}
	return w, w.ctx
}

// watchBody returns a reader of the stream. Its bytes end a silence.
func (w *silenceWatch) watchBody(body io.Reader) io.Reader {
	w.src = body
	return w
}

func (w *silenceWatch) scheduleCheck(after time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ctx.Err() == nil {
		w.timer = time.AfterFunc(after, safe.Func(safe.Timer, w.checkSilence))
	}
}

// checkSilence cancels the stream's request, or schedules the next check. A panic cancels: nothing else would end a silent
// stream.
func (w *silenceWatch) checkSilence() {
	next := time.Duration(0)
	defer func() {
		if next == 0 {
			w.cancel(errSilentStream)
		} else {
			w.scheduleCheck(next)
		}
	}()
	silence := time.Since(time.Unix(0, w.lastByte.Load()))
	switch {
	case silence < silenceBeforeCheck:
		next = silenceBeforeCheck - silence
	case silence < maxSilence && w.isAnswering(w.ctx):
		next = silenceBeforeCheck
	}
}

// cancelStream ends the watch and the stream's request.
func (w *silenceWatch) cancelStream() {
	w.cancel(nil)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.timer != nil {
		w.timer.Stop()
	}
}

// isSilent reports whether the watch ended the stream.
func (w *silenceWatch) isSilent() bool { return errors.Is(context.Cause(w.ctx), errSilentStream) }

func (w *silenceWatch) Read(p []byte) (int, error) {
	n, err := w.src.Read(p)
	if n > 0 {
		w.lastByte.Store(time.Now().UnixNano())
	}
	return n, err
}

// isAnswering asks the server for a sign of life: ping, or server/discover where there is no ping. Every response is
// one, but for that of a lost session.
func (c *connection) isAnswering(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, pingTimeout)
	defer cancel()
	method := "ping"
	if !c.era.hasServerRequests() {
		method = methodDiscover
	}
	_, failure := c.exchangeMessage(ctx, c.era.newMessage(c, rpcRequest{phase: PhaseListen, method: method}, c.newID()))
	return failure == nil || failure.HTTPStatus >= http.StatusOK && failure.HTTPStatus < http.StatusInternalServerError && !failure.SessionLost()
}

func newSilenceError() *Error {
	return &Error{Phase: PhaseListen, Reason: ReasonUnreachable, Detail: errSilentStream.Error(), Retryable: true}
}

// watchedBody is a response's body with a watch around its reads.
type watchedBody struct {
	io.Reader
	io.Closer
}
