package mcp

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"time"

	"patchbay/internal/mcp/revision"
	"patchbay/internal/mcp/sse"
	"patchbay/internal/mcp/wire"
)

const (
	defaultReconnects  = 5   // reopened streams in a row without an event
	maxTotalResumes    = 300 // of one response: some servers close their streams regularly
	maxEventIDLength   = 1 << 10
	defaultResumeDelay = time.Second // if the server names none
	minResumeDelay     = 100 * time.Millisecond
	maxResumeDelay     = 30 * time.Second
)

// streamPosition is the point up to which an event stream was read.
type streamPosition struct {
	lastEventID string        // empty: none
	retryDelay  time.Duration // the server's retry field; 0: none
}

func newStreamPosition(events *sse.Reader) (position streamPosition) {
	position.lastEventID, position.retryDelay = events.Resume()
	return position
}

// nextPosition is next, with the retry delay of k if next has none.
func (p streamPosition) nextPosition(next streamPosition) streamPosition {
	if next.retryDelay == 0 {
		next.retryDelay = p.retryDelay
	}
	return next
}

// resumeDelay is the pause before the next attempt, after so many fruitless ones.
func (p streamPosition) resumeDelay(attempts int) time.Duration {
	wait := p.retryDelay
	if wait == 0 {
		wait = defaultResumeDelay
	}
	if attempts > 0 {
		wait = max(wait, minResumeDelay) << attempts
	}
	return min(wait, maxResumeDelay)
}

// canResume reports whether a stream can be resumed here. Revisions since 2026-07-28 do not support it.
func (c *httpTransport) canResume(position streamPosition) bool {
	return c.hasValidEventID(position) && revision.Handshake.Supports(c.agreedVersion())
}

// hasValidEventID reports whether the event id can be sent in a header.
func (c *httpTransport) hasValidEventID(position streamPosition) bool {
	isUnprintable := func(r rune) bool { return r < ' ' || r > '~' }
	return position.lastEventID != "" && len(position.lastEventID) <= maxEventIDLength && strings.IndexFunc(position.lastEventID, isUnprintable) < 0
}

// resumeReply waits for the reply to m on further streams, each of which continues at position (Streamable HTTP
// 2025-11-25, "Resumability and Redelivery"). The request is not sent again. cause ended the first stream and
// is returned if no other stream follows.
func (c *httpTransport) resumeReply(ctx context.Context, m outgoingMessage, position streamPosition, cause error) (receivedReply, *Error) {
	for total, attempts := 0, 0; total < maxTotalResumes && attempts < c.limits.maxEmptyResumes && isStreamCut(cause); total, attempts = total+1, attempts+1 {
		pause := position.resumeDelay(attempts)
		if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) <= max(pause, position.retryDelay) {
			break
		}
		if err := c.wait(ctx, pause); err != nil {
			return receivedReply{}, classifyError(ctx, m.phase, err)
		}
		a, reply, err := c.readResumed(ctx, m, position)
		switch {
		case err == nil:
			return receivedReply{reply: reply, status: http.StatusOK}, nil
		case ctx.Err() != nil:
			return receivedReply{}, classifyError(ctx, m.phase, err)
		case errors.Is(err, errNoStream):
			attempts = c.limits.maxEmptyResumes
			continue
		case a == nil: // temporarily unreachable
			continue
		}
		cause = err
		if c.canResume(a.position) && a.position.lastEventID != position.lastEventID {
			position, attempts = position.nextPosition(a.position), -1
		}
	}
	failure := classifyError(ctx, m.phase, cause)
	failure.HTTPStatus = http.StatusOK
	return receivedReply{}, failure
}

// readResumed reads one further stream. The reader is nil if there is none.
func (c *httpTransport) readResumed(ctx context.Context, m outgoingMessage, position streamPosition) (*responseReader, *wire.Reply, error) {
	resp, err := c.openStream(ctx, position)
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		if resp.StatusCode < 500 {
			err = errNoStream
		}
		return nil, nil, errors.Join(errCutStream, err)
	}
	a := newResponseReader(resp, m, c.onMessage, c.newReservation(ctx, m), c.limits)
	defer a.reservation.release()
	reply, err := a.readReply()
	if errors.Is(err, errEmpty) {
		err = errCutStream
	}
	return a, reply, err
}

// errNoStream says that the server does not resume the stream.
var errNoStream = errors.New("no such stream")

// openStream requests the stream of server messages, or the events after position.
func (c *httpTransport) openStream(ctx context.Context, position streamPosition) (*http.Response, error) {
	header := http.Header{"Accept": {"text/event-stream"}}
	if position.lastEventID != "" {
		header.Set("Last-Event-Id", position.lastEventID)
	}
	return c.doRequest(ctx, http.MethodGet, outgoingMessage{phase: PhaseListen, header: header})
}

// isStreamCut reports whether a stream ended early but without invalid data.
func isStreamCut(err error) bool {
	if errors.Is(err, errCutStream) || errors.Is(err, io.ErrUnexpectedEOF) {
		return true
	}
	_, own := classifyOwnError(err)
	return own == "" && !isCompression(err)
}
