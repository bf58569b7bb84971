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

// Listen hears what the server says by itself, as notifications/tools/list_changed, until ctx ends (nil), or the server ends it or
// offers no such thing (an *Error). opened is called when there is a stream or, for all one can see, is one, and again where it is taken up after an end: no later
// failure says that the server has none. Both must return quickly.
func (s *Session) Listen(ctx context.Context, opened func(), hear func(Message)) error {
	for {
		c := s.current()
		err := c.listen(ctx, opened, hear)
		if ctx.Err() != nil {
			return nil //nolint:nilerr // whoever listened has heard enough
		}
		if s.current() == c {
			return err
		}
	}
}

func (c *conversation) listen(ctx context.Context, opened func(), hear func(Message)) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(c.life, cancel)()
	id := c.id()
	begun := sync.OnceFunc(opened)
	defer time.AfterFunc(silentTime, safe.Func(safe.Timer, begun)).Stop()
	defer c.depart(c.attend(id, &caller{message: func(m Message) {
		begun()
		hear(m)
	}}))
	if failure := c.era.listen(ctx, c, id, opened); failure != nil {
		return failure
	}
	return &Error{Phase: PhaseListen, Reason: ReasonUnreachable, Detail: "the server ended the stream", Retryable: true}
}

// silentTime is after how long a stream counts as open that was not refused: many servers send nothing, headers included, before they have
// something to say.
const silentTime = 5 * time.Second

// streamer is a carrier that gets what the server says by itself on a stream of its own. The others get it anyway.
type streamer interface {
	// listen reads the stream until ctx or the server ends it. opened is called as soon as there is a stream, and again with each that
	// follows.
	listen(ctx context.Context, opened func()) *Error
}

func (handshakeEra) listen(ctx context.Context, c *conversation, _ int, opened func()) *Error {
	if own, ok := c.carrier.(streamer); ok {
		return own.listen(ctx, opened)
	}
	opened()
	select {
	case <-ctx.Done():
	case <-c.ended():
	}
	return nil
}

// ended is closed where the one stream of a carrier has ended for good; nil: it has none.
func (c *conversation) ended() <-chan struct{} {
	switch own := c.carrier.(type) {
	case *sseCarrier:
		return own.board.ended()
	case *stdioCarrier:
		return own.board.ended()
	}
	return nil
}

// listen subscribes to the changes of every list. That it did, a server says on the stream.
func (modernEra) listen(ctx context.Context, c *conversation, id int, _ func()) *Error {
	return c.subscribeTo(ctx, id, []byte(`{"toolsListChanged":true,"promptsListChanged":true,"resourcesListChanged":true}`))
}

// subscribeTo asks a server of the modern era for notifications, as request id. The stream is the answer.
func (c *conversation) subscribeTo(ctx context.Context, id int, notifications []byte) *Error {
	m := c.era.message(c, request{phase: PhaseListen, method: "subscriptions/listen", params: []wire.Member{
		{Name: "notifications", Value: notifications},
	}}, id)
	in, err := c.carrier.send(ctx, m)
	switch {
	case err != nil:
		if ctx.Err() != nil {
			c.forget(ctx, m)
		}
		return err
	case in.reply.Error != nil:
		return rpcError(PhaseListen, in.reply.Error, in.status)
	}
	return nil
}

// fruitfulTime is how long a stream lives that was worth its while, though nothing was said on it: what stands between us and a server
// often ends a silent one after a minute.
const fruitfulTime = 10 * time.Second

// listen reads the stream that a server of the handshake era may offer by GET, and takes it up again where it ends.
func (c *httpCarrier) listen(ctx context.Context, opened func()) *Error {
	at := mark{}
	for fruitless := 0; ; {
		began := time.Now()
		next, err := c.overhear(ctx, at, opened)
		switch {
		case err != nil && !err.Retryable && ctx.Err() == nil:
			return err
		case next != at:
			at, fruitless = next, 1
		case time.Since(began) >= fruitfulTime:
			fruitless = 0
		default:
			fruitless++
		}
		if fruitless == maxResumes {
			return nil
		}
		if err := c.wait(ctx, at.pause(fruitless)); err != nil {
			return explain(ctx, PhaseListen, err)
		}
	}
}

// overhear reads one stream to its end, and returns how far it came.
func (c *httpCarrier) overhear(ctx context.Context, at mark, opened func()) (mark, *Error) {
	resp, err := c.stream(ctx, at)
	if err != nil {
		return at, explain(ctx, PhaseListen, err)
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		var stranger httpCarrier // 404 says that there is no stream, and nothing about the session
		return at, stranger.refusal(outgoing{phase: PhaseListen}, resp)
	}
	if kind := strings.ToLower(resp.Header.Get("Content-Type")); kind != "" && !strings.HasPrefix(kind, "text/event-stream") {
		return at, protocolError(PhaseListen, "offers no event stream at this address")
	}
	opened()
	events := sse.NewReader(&rationed{src: resp.Body, left: maxStream}, maxBody)
	for {
		event, err := events.Next()
		if err = tooLong(err); errors.Is(err, errTooLarge) {
			return at, explain(ctx, PhaseListen, errTooLarge)
		}
		if err != nil {
			break
		}
		_ = wire.Each(event.Data, func(m wire.Message) {
			if m.Method != nil {
				c.inbox(0, m)
			}
		})
	}
	if next := markOf(events); c.resumes(next) {
		return next, nil
	}
	return at, nil
}

// rationed fails where a stream without an end brings more than maxStream at once, or maxRate for long.
type rationed struct {
	src  io.Reader
	left int
	last time.Time // when something came last; zero: nothing yet
}

const maxRate = 64 << 10 // bytes a second

func (r *rationed) Read(p []byte) (int, error) {
	if r.left <= 0 {
		return 0, errTooLarge
	}
	n, err := r.src.Read(p[:min(len(p), r.left)])
	now := time.Now()
	if !r.last.IsZero() {
		r.left += int(min(now.Sub(r.last).Seconds()*maxRate, maxStream))
	}
	r.left, r.last = min(r.left, maxStream)-n, now
	return n, err
}

// openingTime is how long a call waits for the stream on which the server might ask something. Many servers are silent on it until
// they have something to say.
const openingTime = 500 * time.Millisecond

// hearken opens the stream on which some servers ask what they want to know for a call, once in a conversation.
func (c *conversation) hearken(ctx context.Context) {
	own, ok := c.carrier.(streamer)
	if !ok || !c.era.asks() {
		return
	}
	c.hearing.Do(func() {
		opened := make(chan struct{})
		c.start(func() {
			tell := sync.OnceFunc(func() { close(opened) })
			defer tell()
			_ = own.listen(c.life, tell)
		})
		timer := time.NewTimer(openingTime)
		defer timer.Stop()
		select {
		case <-opened:
		case <-timer.C:
		case <-ctx.Done():
		case <-c.life.Done():
		}
	})
}
