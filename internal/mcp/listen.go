package mcp

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"patchbay/internal/mcp/sse"
	"patchbay/internal/mcp/wire"
	"patchbay/internal/safe"
)

// Listen receives the server's own messages, such as notifications/tools/list_changed. It returns nil when ctx
// ends, and an *Error when the server ends the stream or offers none. onOpen is called when the stream is open,
// or assumed open, and again after each reconnect. No later error then means that the server offers none. Both
// callbacks must return quickly.
func (s *Session) Listen(ctx context.Context, onOpen func(), onMessage func(Message)) error {
	for {
		c := s.currentConnection()
		err := c.listenOnce(ctx, onOpen, onMessage)
		if ctx.Err() != nil {
			return nil //nolint:nilerr // the caller ended it
		}
		if s.currentConnection() == c {
			return err
		}
	}
}

func (c *connection) listenOnce(ctx context.Context, onOpen func(), onMessage func(Message)) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(c.ctx, cancel)()
	id := c.newID()
	begun := sync.OnceFunc(onOpen)
	defer time.AfterFunc(assumedOpenAfter, safe.Func(safe.Timer, begun)).Stop()
	defer c.unregisterCallbacks(c.registerCallbacks(id, &requestCallbacks{message: func(m Message) {
		begun()
		onMessage(m)
	}}))
	if failure := c.era.listenToServer(ctx, c, id, onOpen); failure != nil {
		return failure
	}
	return &Error{Phase: PhaseListen, Reason: ReasonUnreachable, Detail: "the server ended the stream", Retryable: true}
}

// assumedOpenAfter is the time after which a stream that was not refused counts as open. Many servers send no
// headers before their first message.
const assumedOpenAfter = 5 * time.Second

// streamListener is a transport with a separate stream for the server's own messages. Other transports receive
// them anyway.
type streamListener interface {
	// listenStream reads the stream until ctx or the server ends it. opened is called for the first stream and
	// each one after it.
	listenStream(ctx context.Context, opened func()) *Error
}

func (handshakeEra) listenToServer(ctx context.Context, c *connection, _ int, opened func()) *Error {
	if own, ok := c.transport.(streamListener); ok {
		return own.listenStream(ctx, opened)
	}
	opened()
	select {
	case <-ctx.Done():
	case <-c.streamDone():
	}
	return nil
}

// streamDone is closed when a transport's shared stream has ended for good; nil: it has none.
func (c *connection) streamDone() <-chan struct{} {
	switch own := c.transport.(type) {
	case *sseTransport:
		return own.pending.closedChannel()
	case *stdioTransport:
		return own.pending.closedChannel()
	}
	return nil
}

// listenToServer subscribes to the changes of every list. The server confirms it on the stream.
func (modernEra) listenToServer(ctx context.Context, c *connection, id int, _ func()) *Error {
	return c.openSubscription(ctx, id, []byte(`{"toolsListChanged":true,"promptsListChanged":true,"resourcesListChanged":true}`))
}

// openSubscription sends subscriptions/listen as request id. The response is the stream.
func (c *connection) openSubscription(ctx context.Context, id int, notifications []byte) *Error {
	m := c.era.newMessage(c, rpcRequest{phase: PhaseListen, method: methodListen, params: []wire.Member{
		{Name: "notifications", Value: notifications},
	}}, id)
	in, err := c.transport.send(ctx, m)
	switch {
	case err != nil:
		if ctx.Err() != nil {
			c.cancelRequest(ctx, m)
		}
		return err
	case in.reply.Error != nil:
		return newRPCError(PhaseListen, in.reply.Error, in.status)
	}
	return nil
}

// minUsefulStream is the lifetime from which a silent stream counts as useful. Proxies often close one after a
// minute.
const minUsefulStream = 10 * time.Second

// listenStream reads the GET stream of a handshake-era server, and reopens it after its end.
func (c *httpTransport) listenStream(ctx context.Context, onOpen func()) *Error {
	position := streamPosition{}
	for attempts := 0; ; {
		began := time.Now()
		next, err := c.readServerStream(ctx, position, onOpen)
		switch {
		case err != nil && !err.Retryable && ctx.Err() == nil:
			return err
		case next != position:
			position, attempts = next, 1
		case time.Since(began) >= minUsefulStream:
			attempts = 0
		default:
			attempts++
		}
		if attempts >= c.limits.maxEmptyResumes {
			return nil
		}
		if err := c.wait(ctx, position.resumeDelay(attempts)); err != nil {
			return classifyError(ctx, PhaseListen, err)
		}
	}
}

func (c *httpTransport) readServerStream(ctx context.Context, position streamPosition, onOpen func()) (streamPosition, *Error) {
	watch, streamCtx := c.watchSilence(ctx)
	defer watch.cancelStream()
	resp, err := c.openStream(streamCtx, position)
	switch {
	case err != nil && watch.isSilent():
		return position, newSilenceError()
	case err != nil:
		return position, classifyError(ctx, PhaseListen, err)
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		var withoutSession httpTransport // without a session id, 404 means only that there is no stream
		return position, withoutSession.readErrorResponse(outgoingMessage{phase: PhaseListen}, resp)
	}
	if kind := strings.ToLower(resp.Header.Get("Content-Type")); kind != "" && !strings.HasPrefix(kind, "text/event-stream") {
		return position, newProtocolError(PhaseListen, "offers no event stream here")
	}
	onOpen()
	events := sse.NewReader(&rateLimitedReader{src: watch.watchBody(resp.Body), remaining: maxStream}, c.limits.maxBody)
	for {
		event, err := events.Next()
		if err = toReadError(err, c.limits.maxBody); errors.Is(err, errTooLarge) || errors.Is(err, errOverLimit) {
			return position, classifyError(ctx, PhaseListen, err)
		}
		if err != nil {
			break
		}
		_ = wire.Each(event.Data, func(m wire.Message) {
			if m.Method != nil {
				c.onMessage(0, m)
			}
		})
	}
	if next := newStreamPosition(events); c.canResume(next) {
		return next, nil
	}
	return position, nil
}

// rateLimitedReader fails if an endless stream sends more than maxStream at once, or more than maxStreamRate on
// average.
type rateLimitedReader struct {
	src       io.Reader
	remaining int
	lastRead  time.Time // zero: no read yet
}

const maxStreamRate = 64 << 10 // bytes per second

func (r *rateLimitedReader) Read(p []byte) (int, error) {
	if r.remaining <= 0 {
		return 0, errTooLarge
	}
	n, err := r.src.Read(p[:min(len(p), r.remaining)])
	now := time.Now()
	if !r.lastRead.IsZero() {
		r.remaining += int(min(now.Sub(r.lastRead).Seconds()*maxStreamRate, maxStream))
	}
	r.remaining, r.lastRead = min(r.remaining, maxStream)-n, now
	return n, err
}

// streamOpenTimeout is how long a call waits for the stream of server requests. Many servers send no headers
// before their first message.
const streamOpenTimeout = 500 * time.Millisecond

// openServerStream opens the stream on which some servers send requests during a call, once for a connection.
func (c *connection) openServerStream(ctx context.Context) {
	if !c.startServerStream() {
		return
	}
	c.streamWait.Do(func() {
		timer := time.NewTimer(streamOpenTimeout)
		defer timer.Stop()
		select {
		case <-c.streamOpen:
		case <-timer.C:
		case <-ctx.Done():
		case <-c.ctx.Done():
		}
	})
}

// startServerStream begins to open that stream. It is false if the transport has none, or needs none.
func (c *connection) startServerStream() bool {
	own, ok := c.transport.(streamListener)
	if !ok || !c.era.hasServerRequests() {
		return false
	}
	c.streamOnce.Do(func() {
		c.streamOpen = make(chan struct{})
		c.startBackground(func() {
			onOpen := sync.OnceFunc(func() { close(c.streamOpen) })
			defer onOpen()
			safe.RunLoop(c.ctx, "streams of servers", func(ctx context.Context) { _ = own.listenStream(ctx, onOpen) })
		})
	})
	return true
}
