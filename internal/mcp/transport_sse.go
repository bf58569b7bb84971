package mcp

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"patchbay/internal/mcp/wire"
	"patchbay/internal/safe"
)

const (
	reconnectTimeout = 15 * time.Second
	idleBeforePing   = 30 * time.Second // without a byte
	pingTimeout      = 15 * time.Second // for a byte after the ping
)

// sseTransport is HTTP+SSE (MCP 2024-11-05): one GET stream for all replies; its first event names the URL
// for POSTs.
type sseTransport struct {
	streamHTTP *httpTransport
	postHTTP   atomic.Pointer[httpTransport] // nil: the endpoint is unknown yet
	pending    pendingReplies
	hasSession atomic.Bool // a version was negotiated

	ctx        context.Context
	cancel     context.CancelFunc
	background sync.WaitGroup
	openLock   chan struct{} // held while the stream is opened
	isOpen     bool          // guarded by openLock
	pingCount  int           // of the reading goroutine only
}

func newSSETransport(streamHTTP *httpTransport, onMessage messageHandler) *sseTransport {
	c := &sseTransport{streamHTTP: streamHTTP, pending: pendingReplies{onMessage: onMessage}, openLock: make(chan struct{}, 1)}
	c.ctx, c.cancel = context.WithCancel(context.Background())
	return c
}

// send posts a message. The reply comes on the stream or, from some servers, in the POST's response.
func (c *sseTransport) send(ctx context.Context, m outgoingMessage) (receivedReply, *Error) {
	if err := c.ensureStream(ctx, m.phase); err != nil {
		return receivedReply{}, err
	}
	if closed := c.pending.checkOpen(m.phase); closed != nil {
		return receivedReply{}, closed // no stream could bring the reply
	}
	if m.id == 0 {
		return receivedReply{}, c.postMessage(ctx, m)
	}
	reply := c.pending.expectReply(m.id)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var refused *Error
	posted := make(chan struct{})
	safe.Go(safe.Upstream, func() {
		defer close(posted)
		refused = newPanicError(m.phase) // replaced below
		defer func() {
			if refused != nil {
				cancel()
			}
		}()
		refused = c.postMessage(ctx, m)
	})
	in, err := c.pending.awaitReply(ctx, m, reply)
	timer := time.AfterFunc(drainTimeout, cancel) // a response in this time keeps the connection reusable
	<-posted
	timer.Stop()
	if err != nil && refused != nil {
		return receivedReply{}, refused
	}
	return in, err
}

// postMessage posts one message and reads a reply in its response, if there is one.
func (c *sseTransport) postMessage(ctx context.Context, m outgoingMessage) *Error {
	resp, err := c.postHTTP.Load().postMessage(ctx, m)
	if _, redirected := errors.AsType[*redirectError](err); redirected && m.id == 0 {
		return nil
	}
	if err != nil {
		return classifyError(ctx, m.phase, err)
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode/100 != 2 {
		return c.readErrorResponse(m, resp)
	}
	body, _ := io.ReadAll(io.LimitReader(resp.Body, int64(c.streamHTTP.limits.maxBody)))
	if text := bytes.TrimSpace(body); len(text) > 0 && (text[0] == '{' || text[0] == '[') {
		_ = c.pending.deliverText(text)
	}
	return nil
}

// readErrorResponse converts a response with another status than 2xx. For an unknown session, servers send 400, 404
// or 410.
func (c *sseTransport) readErrorResponse(m outgoingMessage, resp *http.Response) *Error {
	failure := c.streamHTTP.readErrorResponse(m, resp)
	switch resp.StatusCode {
	case http.StatusNotFound, http.StatusBadRequest, http.StatusGone:
		if c.hasSession.Load() && failure.RPCCode == 0 {
			failure.Err = errSessionLost
		}
	}
	if m.id == 0 && failure.Reason != ReasonUnauthorized && !errors.Is(failure, errSessionLost) {
		return nil
	}
	return failure
}

func (c *sseTransport) setVersion(version string) {
	c.hasSession.Store(true)
	if posts := c.postHTTP.Load(); posts != nil {
		posts.setVersion(version)
	}
}

// close ends the stream; there is no request for it.
func (c *sseTransport) close(context.Context) {
	c.cancel()
	c.background.Wait()
}

func (c *sseTransport) ensureStream(ctx context.Context, phase Phase) *Error {
	select {
	case c.openLock <- struct{}{}:
	case <-ctx.Done():
		return classifyError(ctx, phase, ctx.Err())
	}
	defer func() { <-c.openLock }()
	if c.isOpen {
		return nil
	}
	s, err := c.openStream(ctx, phase, streamPosition{})
	if err != nil {
		return err
	}
	posts := &httpTransport{client: c.streamHTTP.client, limits: c.streamHTTP.limits, header: c.streamHTTP.header, wait: c.streamHTTP.wait, trace: c.streamHTTP.trace, era: c.streamHTTP.era, traceContext: c.streamHTTP.traceContext}
	posts.url.Store(s.endpoint)
	c.postHTTP.Store(posts)
	c.isOpen = true
	safe.GoIn(&c.background, safe.Upstream, func() { c.readStream(s) })
	return nil
}

// readStream reads the stream until the transport is closed or the stream cannot be reopened.
func (c *sseTransport) readStream(s *eventStream) {
	defer func() { c.pending.failAll(newReaderPanicError(c.hasSession.Load())) }() // has an effect only after a panic
	attempts := 0
	for {
		position, hasEvents, err := c.readEvents(s)
		if hasEvents {
			attempts = 0
		}
		if c.ctx.Err() != nil || !isStreamCut(err) {
			c.pending.failAll(classifyError(c.ctx, PhaseInitialize, err))
			return
		}
		var failure *Error
		if s, failure = c.reopenStream(s.endpoint, position, &attempts); failure != nil {
			c.pending.failAll(failure)
			return
		}
	}
}

// reopenStream resumes the stream at position. A server that names another endpoint has lost the session.
func (c *sseTransport) reopenStream(endpoint *url.URL, position streamPosition, attempts *int) (*eventStream, *Error) {
	failure := classifyError(c.ctx, PhaseInitialize, errCutStream)
	for *attempts < c.streamHTTP.limits.maxEmptyResumes {
		var s *eventStream
		s, failure = c.retryOpen(position, *attempts)
		*attempts++
		switch {
		case failure == nil && s.endpoint.String() == endpoint.String():
			return s, nil
		case failure == nil:
			s.close()
			return nil, &Error{Phase: PhaseInitialize, Reason: ReasonProtocol, Detail: errCutStream.Error(), Err: errSessionLost}
		case !failure.Retryable || c.ctx.Err() != nil:
			return nil, failure
		}
	}
	return nil, failure
}

func (c *sseTransport) retryOpen(position streamPosition, attempts int) (*eventStream, *Error) {
	if err := c.streamHTTP.wait(c.ctx, position.resumeDelay(attempts)); err != nil {
		return nil, classifyError(c.ctx, PhaseInitialize, err)
	}
	ctx, cancel := context.WithTimeout(c.ctx, reconnectTimeout)
	defer cancel()
	return c.openStream(ctx, PhaseInitialize, position)
}

// parseEndpoint returns the URL for POSTs. Credentials are sent there, so it must be on the same host.
func parseEndpoint(from *url.URL, data []byte, sent http.Header) (*url.URL, error) {
	to, err := from.Parse(strings.TrimSpace(string(data)))
	if err != nil || to.Host == "" {
		return nil, &redirectError{http.StatusOK, "sent no valid message URL"}
	}
	if to.User != nil || !isSameHost(from, to) {
		return nil, &redirectError{http.StatusOK, "wants messages sent to " + printableTarget(from, to, sent)}
	}
	to.Fragment, to.RawFragment = "", ""
	return to, nil
}

// pingServer posts a ping. Its reply is not awaited: any byte on the stream counts.
func (c *sseTransport) pingServer(ctx context.Context) {
	c.pingCount++
	ctx, cancel := context.WithTimeout(ctx, pingTimeout)
	defer cancel()
	_ = c.postMessage(ctx, outgoingMessage{phase: PhaseList, id: -c.pingCount, method: "ping", body: wire.Request(-c.pingCount, "ping", nil)})
}
