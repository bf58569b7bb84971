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
	maxResumes  = 5   // in a row that bring nothing
	mostResumes = 300 // of one answer: some servers close their streams again and again, and mean it well
	maxMark     = 1 << 10
	firstResume = time.Second // where the server does not say how long to wait
	leastResume = 100 * time.Millisecond
	maxResume   = 30 * time.Second
)

// mark is how far an event stream came.
type mark struct {
	id   string        // of its last event; empty: none that could be named
	wait time.Duration // what the server asks for before somebody comes back; 0: it does not
}

func markOf(events *sse.Reader) (at mark) {
	at.id, at.wait = events.Resume()
	return at
}

// moved is the mark after another stream, which asks for the same pause where it asks for none.
func (k mark) moved(to mark) mark {
	if to.wait == 0 {
		to.wait = k.wait
	}
	return to
}

// pause is how long to wait before the stream is taken up again, after so many tries that brought nothing.
func (k mark) pause(fruitless int) time.Duration {
	wait := k.wait
	if wait == 0 {
		wait = firstResume
	}
	if fruitless > 0 {
		wait = max(wait, leastResume) << fruitless
	}
	return min(wait, maxResume)
}

// resumes tells whether a stream that ended so can be taken up again: the revisions since 2026-07-28 know no such thing.
func (c *httpCarrier) resumes(at mark) bool {
	return c.resumable(at) && revision.Handshake.Knows(c.speaks())
}

// resumable tells whether a mark can be named in a header.
func (c *httpCarrier) resumable(at mark) bool {
	hostile := func(r rune) bool { return r < ' ' || r > '~' }
	return at.id != "" && len(at.id) <= maxMark && strings.IndexFunc(at.id, hostile) < 0
}

// resume waits for the reply to m on further streams, each of which goes on where the one before ended (Streamable HTTP of 2025-11-25,
// "Resumability and Redelivery"). The request itself is not sent again. cut is how the first stream ended, and what is told where
// no other comes about.
func (c *httpCarrier) resume(ctx context.Context, m outgoing, at mark, cut error) (incoming, *Error) {
	for all, fruitless := 0, 0; all < mostResumes && fruitless < maxResumes && isCut(cut); all, fruitless = all+1, fruitless+1 {
		pause := at.pause(fruitless)
		if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) <= max(pause, at.wait) {
			break
		}
		if err := c.wait(ctx, pause); err != nil {
			return incoming{}, explain(ctx, m.phase, err)
		}
		a, reply, err := c.takeUp(ctx, m, at)
		switch {
		case err == nil:
			return incoming{reply: reply, status: http.StatusOK}, nil
		case ctx.Err() != nil:
			return incoming{}, explain(ctx, m.phase, err)
		case errors.Is(err, errNoStream):
			fruitless = maxResumes
			continue
		case a == nil: // nobody there, just now
			continue
		}
		cut = err
		if c.resumes(a.mark) && a.mark.id != at.id {
			at, fruitless = at.moved(a.mark), -1
		}
	}
	failure := explain(ctx, m.phase, cut)
	failure.HTTPStatus = http.StatusOK
	return incoming{}, failure
}

// takeUp reads one further stream. The answer is nil where there is none.
func (c *httpCarrier) takeUp(ctx context.Context, m outgoing, at mark) (*answer, *wire.Reply, error) {
	resp, err := c.stream(ctx, at)
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
	a := newAnswer(resp, m, c.inbox, c.claim(ctx, m))
	defer a.claim.give()
	reply, err := a.read()
	if errors.Is(err, errEmpty) {
		err = errCutStream
	}
	return a, reply, err
}

// errNoStream says that the server does not take a stream up again.
var errNoStream = errors.New("no such stream")

// stream asks for a stream of what the server says by itself, or of what followed a mark.
func (c *httpCarrier) stream(ctx context.Context, at mark) (*http.Response, error) {
	header := http.Header{"Accept": {"text/event-stream"}}
	if at.id != "" {
		header.Set("Last-Event-Id", at.id)
	}
	return c.do(ctx, http.MethodGet, outgoing{phase: PhaseListen, header: header})
}

// isCut tells whether a stream ended without having been wrong.
func isCut(err error) bool {
	if errors.Is(err, errCutStream) || errors.Is(err, io.ErrUnexpectedEOF) {
		return true
	}
	_, own := ownError(err)
	return own == "" && !isCompression(err)
}
