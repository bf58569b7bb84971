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
	maxReconnects    = 5 // in a row that bring nothing
	reconnectTimeout = 15 * time.Second
	quietTime        = 30 * time.Second // without a byte, before the server is asked whether it is there
	pongTime         = 15 * time.Second // for its answer
)

// sseCarrier is the HTTP+SSE of MCP 2024-11-05: one GET stream brings everything, its first event says where messages are posted.
type sseCarrier struct {
	gets  *httpCarrier
	posts atomic.Pointer[httpCarrier] // nil: the server has not said yet where to
	board switchboard
	known atomic.Bool // a version was agreed: the server has a session for us

	life  context.Context
	end   context.CancelFunc
	tasks sync.WaitGroup
	door  chan struct{} // held by whoever opens the stream
	open  bool          // guarded by door
	pings int           // of the one goroutine that reads
}

func newSSECarrier(gets *httpCarrier, to inbox) *sseCarrier {
	c := &sseCarrier{gets: gets, board: switchboard{inbox: to}, door: make(chan struct{}, 1)}
	c.life, c.end = context.WithCancel(context.Background())
	return c
}

// send posts a message. Its reply comes on the stream, or, from some servers, as the answer of the post.
func (c *sseCarrier) send(ctx context.Context, m outgoing) (incoming, *Error) {
	if err := c.ready(ctx, m.phase); err != nil {
		return incoming{}, err
	}
	if over := c.board.over(m.phase); over != nil {
		return incoming{}, over // nobody would bring the reply
	}
	if m.id == 0 {
		return incoming{}, c.post(ctx, m)
	}
	reply := c.board.expect(m.id)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var refused *Error
	posted := make(chan struct{})
	safe.Go(safe.Upstream, func() {
		defer close(posted)
		refused = panicked(m.phase) // until it is known
		defer func() {
			if refused != nil {
				cancel()
			}
		}()
		refused = c.post(ctx, m)
	})
	in, err := c.board.await(ctx, m, reply)
	timer := time.AfterFunc(drainTime, cancel) // an answer that comes now leaves the connection useful
	<-posted
	timer.Stop()
	if err != nil && refused != nil {
		return incoming{}, refused
	}
	return in, err
}

// post brings one message to the server, and takes what it says at once.
func (c *sseCarrier) post(ctx context.Context, m outgoing) *Error {
	resp, err := c.posts.Load().post(ctx, m)
	if _, redirected := errors.AsType[*redirectError](err); redirected && m.id == 0 {
		return nil
	}
	if err != nil {
		return explain(ctx, m.phase, err)
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode/100 != 2 {
		return c.refusal(m, resp)
	}
	body, _ := io.ReadAll(io.LimitReader(resp.Body, maxBody))
	if text := bytes.TrimSpace(body); len(text) > 0 && (text[0] == '{' || text[0] == '[') {
		_ = c.board.take(text)
	}
	return nil
}

// refusal types an answer whose status is no success. That a server does not know a session it says by 404, or by 400.
func (c *sseCarrier) refusal(m outgoing, resp *http.Response) *Error {
	failure := c.gets.refusal(m, resp)
	switch resp.StatusCode {
	case http.StatusNotFound, http.StatusBadRequest, http.StatusGone:
		if c.known.Load() && failure.RPCCode == 0 {
			failure.Err = errSessionLost
		}
	}
	if m.id == 0 && failure.Reason != ReasonUnauthorized && !errors.Is(failure, errSessionLost) {
		return nil
	}
	return failure
}

// agreed is the version that every post from now on names.
func (c *sseCarrier) agreed(version string) {
	c.known.Store(true)
	if posts := c.posts.Load(); posts != nil {
		posts.agreed(version)
	}
}

// close ends the stream. There is nothing to say to the server.
func (c *sseCarrier) close(context.Context) {
	c.end()
	c.tasks.Wait()
}

// ready makes sure that there is a stream, and that it is known where messages go.
func (c *sseCarrier) ready(ctx context.Context, phase Phase) *Error {
	select {
	case c.door <- struct{}{}:
	case <-ctx.Done():
		return explain(ctx, phase, ctx.Err())
	}
	defer func() { <-c.door }()
	if c.open {
		return nil
	}
	s, err := c.connect(ctx, phase, mark{})
	if err != nil {
		return err
	}
	posts := &httpCarrier{http: c.gets.http, header: c.gets.header, wait: c.gets.wait, trace: c.gets.trace, era: c.gets.era, span: c.gets.span}
	posts.url.Store(s.endpoint)
	c.posts.Store(posts)
	c.open = true
	safe.GoIn(&c.tasks, safe.Upstream, func() { c.read(s) })
	return nil
}

// read takes what the stream brings, until the carrier is closed or the stream cannot be had again.
func (c *sseCarrier) read(s *eventStream) {
	defer func() { c.board.fail(readerPanicked(c.known.Load())) }() // where nothing else has ended the waits
	fruitless := 0
	for {
		at, fresh, err := c.hear(s)
		if fresh {
			fruitless = 0
		}
		if c.life.Err() != nil || !isCut(err) {
			c.board.fail(explain(c.life, PhaseInitialize, err))
			return
		}
		var failure *Error
		if s, failure = c.reconnect(s.endpoint, at, &fruitless); failure != nil {
			c.board.fail(failure)
			return
		}
	}
}

// reconnect takes the stream up again where it ended. A server that names another endpoint does not know our session any more.
func (c *sseCarrier) reconnect(was *url.URL, at mark, fruitless *int) (*eventStream, *Error) {
	for {
		s, failure := c.again(at, *fruitless)
		*fruitless++
		switch {
		case failure == nil && s.endpoint.String() == was.String():
			return s, nil
		case failure == nil:
			s.close()
			return nil, &Error{Phase: PhaseInitialize, Reason: ReasonProtocol, Detail: errCutStream.Error(), Err: errSessionLost}
		case !failure.Retryable || *fruitless >= maxReconnects || c.life.Err() != nil:
			return nil, failure
		}
	}
}

func (c *sseCarrier) again(at mark, fruitless int) (*eventStream, *Error) {
	if err := c.gets.wait(c.life, at.pause(fruitless)); err != nil {
		return nil, explain(c.life, PhaseInitialize, err)
	}
	ctx, cancel := context.WithTimeout(c.life, reconnectTimeout)
	defer cancel()
	return c.connect(ctx, PhaseInitialize, at)
}

// endpoint is where the server wants messages. Credentials go with them, so that it has to be at the server itself.
func endpoint(from *url.URL, data []byte) (*url.URL, error) {
	to, err := from.Parse(strings.TrimSpace(string(data)))
	if err != nil || to.Host == "" {
		return nil, &redirectError{http.StatusOK, "names no readable address for its messages"}
	}
	if to.User != nil || !sameHouse(from, to) {
		return nil, &redirectError{http.StatusOK, "wants its messages sent to " + shownOrigin(to)}
	}
	to.Fragment, to.RawFragment = "", ""
	return to, nil
}

// ping asks the server whether it is there. Nobody waits for the answer but the stream that brings it.
func (c *sseCarrier) ping(ctx context.Context) {
	c.pings++
	ctx, cancel := context.WithTimeout(ctx, pongTime)
	defer cancel()
	_ = c.post(ctx, outgoing{phase: PhaseList, id: -c.pings, method: "ping", body: wire.Request(-c.pings, "ping", nil)})
}
