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

type eventStream struct {
	events   *sse.Reader
	endpoint *url.URL
	body     io.Closer
	activity chan struct{} // signalled on each read with bytes
	ctx      context.Context
	cancel   context.CancelFunc
}

// openStream opens a stream and waits for its endpoint event. ctx bounds the opening only; the stream lives as
// long as the transport.
func (c *sseTransport) openStream(ctx context.Context, phase Phase, position streamPosition) (*eventStream, *Error) {
	s := &eventStream{activity: make(chan struct{}, 1)}
	s.ctx, s.cancel = context.WithCancel(c.ctx)
	unbind := context.AfterFunc(ctx, s.cancel)
	failure := c.awaitEndpoint(ctx, s, phase, position)
	if !unbind() && failure == nil {
		failure = classifyError(ctx, phase, ctx.Err())
	}
	if failure == nil {
		return s, nil
	}
	s.close()
	return nil, failure
}

func (s *eventStream) close() {
	s.cancel()
	if s.body != nil {
		_ = s.body.Close()
	}
}

func (c *sseTransport) awaitEndpoint(ctx context.Context, s *eventStream, phase Phase, position streamPosition) *Error {
	resp, err := c.requestStream(s.ctx, position) //nolint:bodyclose // s.close closes it, also where this fails
	if err != nil {
		return classifyError(ctx, phase, err)
	}
	s.body = resp.Body
	if resp.StatusCode != http.StatusOK {
		return c.streamHTTP.readErrorResponse(outgoingMessage{phase: phase}, resp)
	}
	if kind := strings.ToLower(resp.Header.Get("Content-Type")); !strings.HasPrefix(kind, "text/event-stream") {
		failure := newProtocolError(phase, "offers no event stream here")
		failure.remote = readRemoteText(resp.Body, resp.Body)
		return failure
	}
	s.events = sse.NewReader(&activityReader{resp.Body, s.activity}, c.streamHTTP.limits.maxBody)
	for range maxEvents {
		event, err := s.events.Next()
		switch {
		case errors.Is(err, io.EOF):
			return classifyError(ctx, phase, errCutStream)
		case err != nil:
			return classifyError(ctx, phase, toReadError(err, c.streamHTTP.limits.maxBody))
		case event.Name != "endpoint":
			_ = c.pending.deliverText(event.Data)
			continue
		}
		if s.endpoint, err = parseEndpoint(c.streamHTTP.url.Load(), event.Data, c.streamHTTP.header); err != nil {
			return classifyError(ctx, phase, err)
		}
		return nil
	}
	return classifyError(ctx, phase, errTooMany)
}

// requestStream sends the GET and follows redirects to the same host.
func (c *sseTransport) requestStream(ctx context.Context, position streamPosition) (*http.Response, error) {
	if len(position.lastEventID) > maxEventIDLength || strings.ContainsFunc(position.lastEventID, func(r rune) bool { return r < ' ' || r > '~' }) {
		position.lastEventID = "" // not a valid header value
	}
	for hops := 0; ; hops++ {
		resp, err := c.streamHTTP.openStream(ctx, position)
		if err != nil || !isRedirect(resp.StatusCode) {
			return resp, err
		}
		_ = resp.Body.Close()
		to, err := redirectTarget(c.streamHTTP.url.Load(), resp, hops, c.streamHTTP.header)
		if err != nil {
			return nil, err
		}
		c.streamHTTP.url.Store(to)
	}
}

// readEvents reads the stream to its end. hasEvents: at least one event arrived.
func (c *sseTransport) readEvents(s *eventStream) (position streamPosition, hasEvents bool, err error) {
	watcherDone := make(chan struct{})
	safe.Go(safe.Upstream, func() {
		defer close(watcherDone)
		defer s.cancel() // after a panic nothing else would end a silent stream
		c.watchIdle(s)
	})
	defer func() {
		s.close()
		<-watcherDone
	}()
	for err == nil {
		event, readErr := s.events.Next()
		switch {
		case errors.Is(readErr, io.EOF):
			err = errCutStream
		case readErr != nil:
			err = toReadError(readErr, c.streamHTTP.limits.maxBody)
		case event.Name != "endpoint":
			hasEvents = true
			_ = c.pending.deliverText(event.Data) // an unreadable event answers no request
		}
	}
	return newStreamPosition(s.events), hasEvents, err
}

// watchIdle pings a silent server, and ends the stream if no bytes follow.
func (c *sseTransport) watchIdle(s *eventStream) {
	timer := time.NewTimer(idleBeforePing)
	defer timer.Stop()
	for pinged := false; ; {
		select {
		case <-s.ctx.Done():
			return
		case <-s.activity:
			pinged = false
			timer.Reset(idleBeforePing)
		case <-timer.C:
			if pinged {
				s.cancel()
				return
			}
			pinged = true
			timer.Reset(pingTimeout)
			c.pingServer(s.ctx)
		}
	}
}

func toReadError(err error, limit int) error {
	if errors.Is(err, sse.ErrTooLarge) {
		return newSizeError(limit)
	}
	return err
}

type activityReader struct {
	src      io.Reader
	activity chan<- struct{}
}

func (r *activityReader) Read(p []byte) (int, error) {
	n, err := r.src.Read(p)
	if n > 0 {
		select {
		case r.activity <- struct{}{}:
		default:
		}
	}
	return n, err
}
