package mcp

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"patchbay/internal/mcp/sse"
	"patchbay/internal/safe"
)

// eventStream is one GET of HTTP+SSE, after its endpoint event.
type eventStream struct {
	events   *sse.Reader
	endpoint *url.URL
	body     io.Closer
	moved    chan struct{} // a byte came
	ctx      context.Context
	end      context.CancelFunc
}

// connect opens a stream and waits for its endpoint event. ctx bounds that alone; the stream lives as long as the carrier.
func (c *sseCarrier) connect(ctx context.Context, phase Phase, at mark) (*eventStream, *Error) {
	s := &eventStream{moved: make(chan struct{}, 1)}
	s.ctx, s.end = context.WithCancel(c.life)
	unbind := context.AfterFunc(ctx, s.end)
	failure := c.begin(ctx, s, phase, at)
	if !unbind() && failure == nil {
		failure = explain(ctx, phase, ctx.Err())
	}
	if failure == nil {
		return s, nil
	}
	s.close()
	return nil, failure
}

func (s *eventStream) close() {
	s.end()
	if s.body != nil {
		_ = s.body.Close()
	}
}

func (c *sseCarrier) begin(ctx context.Context, s *eventStream, phase Phase, at mark) *Error {
	resp, err := c.get(s.ctx, at) //nolint:bodyclose // s.close closes it, also where this fails
	if err != nil {
		return explain(ctx, phase, err)
	}
	s.body = resp.Body
	if resp.StatusCode != http.StatusOK {
		return c.gets.refusal(outgoing{phase: phase}, resp)
	}
	if kind := strings.ToLower(resp.Header.Get("Content-Type")); !strings.HasPrefix(kind, "text/event-stream") {
		return protocolError(phase, "offers no event stream at this address")
	}
	s.events = sse.NewReader(&moving{resp.Body, s.moved}, maxBody)
	for range maxEvents {
		event, err := s.events.Next()
		switch {
		case errors.Is(err, io.EOF):
			return explain(ctx, phase, errCutStream)
		case err != nil:
			return explain(ctx, phase, tooLong(err))
		case event.Name != "endpoint":
			_ = c.board.take(event.Data)
			continue
		}
		if s.endpoint, err = endpoint(c.gets.url.Load(), event.Data); err != nil {
			return explain(ctx, phase, err)
		}
		return nil
	}
	return explain(ctx, phase, errTooMany)
}

// get asks for the stream, also where the server has moved within its house.
func (c *sseCarrier) get(ctx context.Context, at mark) (*http.Response, error) {
	if len(at.id) > maxMark || strings.ContainsFunc(at.id, func(r rune) bool { return r < ' ' || r > '~' }) {
		at.id = "" // it cannot stand in a header
	}
	for hops := 0; ; hops++ {
		resp, err := c.gets.stream(ctx, at)
		if err != nil || !isRedirect(resp.StatusCode) {
			return resp, err
		}
		_ = resp.Body.Close()
		to, err := redirected(c.gets.url.Load(), resp, hops)
		if err != nil {
			return nil, err
		}
		c.gets.url.Store(to)
	}
}

// hear takes the stream's events to its end. fresh: there were any.
func (c *sseCarrier) hear(s *eventStream) (at mark, fresh bool, err error) {
	watched := make(chan struct{})
	safe.Go(safe.Upstream, func() {
		defer close(watched)
		c.watch(s)
	})
	for err == nil {
		event, failed := s.events.Next()
		switch {
		case errors.Is(failed, io.EOF):
			err = errCutStream
		case failed != nil:
			err = tooLong(failed)
		case event.Name != "endpoint":
			fresh = true
			_ = c.board.take(event.Data) // what cannot be read answers nobody
		}
	}
	s.close()
	<-watched
	return markOf(s.events), fresh, err
}

// watch asks after a server that says nothing, and ends the stream of one that does not answer.
func (c *sseCarrier) watch(s *eventStream) {
	timer := time.NewTimer(quietTime)
	defer timer.Stop()
	for asked := false; ; {
		select {
		case <-s.ctx.Done():
			return
		case <-s.moved:
			asked = false
			timer.Reset(quietTime)
		case <-timer.C:
			if asked {
				s.end()
				return
			}
			asked = true
			timer.Reset(pongTime)
			c.ping(s.ctx)
		}
	}
}

// tooLong is an error of the reader in the words of this package.
func tooLong(err error) error {
	if errors.Is(err, sse.ErrTooLarge) {
		return errTooLarge
	}
	return err
}

// moving tells of every read that brought something.
type moving struct {
	src   io.Reader
	moved chan<- struct{}
}

func (m *moving) Read(p []byte) (int, error) {
	n, err := m.src.Read(p)
	if n > 0 {
		select {
		case m.moved <- struct{}{}:
		default:
		}
	}
	return n, err
}
