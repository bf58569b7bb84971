package mcp

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"

	"patchbay/internal/mcp/sse"
	"patchbay/internal/mcp/wire"
)

// Bounds of one response.
const (
	maxBody   = 8 << 20  // of a JSON body, or of one event
	maxStream = 32 << 20 // of a whole event stream
	maxEvents = 10_000   // before the reply
)

var byteOrderMark = []byte("\xef\xbb\xbf")

// Faults of a response. The texts are shown.
var (
	errEmpty     = errors.New("sent an empty response")
	errHTML      = errors.New("answered with HTML")
	errXML       = errors.New("answered with XML")
	errNotJSON   = errors.New("answered with non-JSON")
	errBroken    = errors.New("answered with broken JSON")
	errNoReply   = errors.New("sent an invalid response")
	errCutStream = errors.New("closed the stream before replying")
	errTooLarge  = errors.New("sent over 8 MiB")
	errOverLimit = errors.New("exceeded this connector's size limit")
	errTooMany   = errors.New("sent over 10000 messages before replying")
)

// transportLimits are the bounds that a target may set.
type transportLimits struct {
	maxBody         int // bytes of a JSON body, of one event, or of one line of a program
	maxEmptyResumes int // reopened streams in a row without an event
}

func (t Target) responseLimits() transportLimits {
	limits := transportLimits{maxBody: min(cmp.Or(t.MaxResponse, maxBody), maxBody), maxEmptyResumes: defaultReconnects}
	if t.Reconnects != nil {
		limits.maxEmptyResumes = *t.Reconnects
	}
	return limits
}

// newSizeError is the error of a body of more than limit bytes.
func newSizeError(limit int) error {
	if limit == maxBody {
		return errTooLarge
	}
	return errOverLimit
}

// responseReader reads the reply in one successful HTTP response.
type responseReader struct {
	limited       limitedReader
	body          *bufio.Reader // of limited
	contentLength int64         // -1: not announced
	contentType   string
	finder        wire.Finder
	poolable      bool // the reply may use pooled memory
	lease         pooledBody
	reservation   reservation
	maxBody       int            // as in transportLimits
	position      streamPosition // last position of an event stream
	atEOF         bool
	unreadable    RemoteText // what is no reply
}

func newResponseReader(resp *http.Response, m outgoingMessage, onMessage messageHandler, reservation reservation, limits transportLimits) *responseReader {
	a := &responseReader{
		reservation:   reservation,
		maxBody:       limits.maxBody,
		limited:       limitedReader{src: resp.Body, remaining: maxStream},
		contentLength: resp.ContentLength,
		contentType:   resp.Header.Get("Content-Type"),
		poolable:      m.poolable,
		finder:        wire.Finder{ID: m.id, Paged: m.paged, Fields: m.phase == PhaseCall},
	}
	a.body = getReader(&a.limited)
	if onMessage != nil {
		a.finder.Other = func(other wire.Message) {
			a.poolable = false // the message is kept
			onMessage(m.id, other)
		}
	}
	return a
}

var readerPool = sync.Pool{New: func() any { return bufio.NewReader(nil) }}

func getReader(src io.Reader) *bufio.Reader {
	r, _ := readerPool.Get().(*bufio.Reader) // the pool holds no other type
	r.Reset(src)
	return r
}

// release returns the reader's resources. It must not be used afterwards.
func (r *responseReader) release() {
	r.reservation.release()
	r.body.Reset(nil)
	readerPool.Put(r.body)
}

// readReply finds the reply. The first bytes decide the format, whatever the content type.
func (r *responseReader) readReply() (*wire.Reply, error) {
	start, err := r.peekStart()
	if errors.Is(err, errEmpty) && r.isEventStream() {
		err = errCutStream // before its first event
	}
	if err != nil {
		return nil, err
	}
	switch {
	case start[0] == '{' || start[0] == '[':
		return r.readJSON()
	case start[0] == '<':
		return nil, r.markupError()
	case looksLikeEvents(start), r.isEventStream():
		return r.readEvents()
	case strings.IndexByte(`"tfn-0123456789`, start[0]) >= 0:
		return r.readScalar()
	}
	return nil, errNotJSON
}

func (r *responseReader) isEventStream() bool {
	return strings.HasPrefix(strings.ToLower(r.contentType), "text/event-stream")
}

func (r *responseReader) markupError() error {
	const declaration = "<?xml"
	if start, _ := r.body.Peek(len(declaration)); string(start) == declaration {
		return errXML
	}
	return errHTML
}

// readScalar reads JSON that is no message, such as null or a string.
func (r *responseReader) readScalar() (*wire.Reply, error) {
	reply, err := r.readJSON()
	if errors.Is(err, errBroken) {
		err = errNotJSON
	}
	return reply, err
}

// peekStart skips white space and byte order marks, and returns the next bytes: up to five, enough to recognize
// an event stream.
func (r *responseReader) peekStart() ([]byte, error) {
	for {
		if _, err := r.body.Peek(1); err != nil {
			if errors.Is(err, io.EOF) {
				err = errEmpty
			}
			return nil, err
		}
		buffered, _ := r.body.Peek(r.body.Buffered())
		rest := bytes.TrimLeft(buffered, " \t\r\n")
		rest = bytes.TrimPrefix(rest, byteOrderMark)
		_, _ = r.body.Discard(len(buffered) - len(rest))
		switch {
		case len(rest) == 0 || len(rest) < len(buffered):
		case rest[0] == byteOrderMark[0]: // perhaps a mark's first byte; the next round decides
			if mark, _ := r.body.Peek(len(byteOrderMark)); !bytes.Equal(mark, byteOrderMark) {
				return rest[:1], nil
			}
		case strings.IndexByte("edir", rest[0]) >= 0:
			// A short result is no stream; its error repeats.
			start, _ := r.body.Peek(len("event:"))
			return start, nil
		default:
			return rest[:1], nil
		}
	}
}

func looksLikeEvents(start []byte) bool {
	for _, field := range []string{":", "event:", "data:", "id:", "retry:"} {
		if bytes.HasPrefix(start, []byte(field)) {
			return true
		}
	}
	return false
}

func (r *responseReader) readJSON() (*wire.Reply, error) {
	body, err := r.readBody()
	if err != nil {
		return nil, err
	}
	reply, err := r.finder.Find(body)
	if !r.poolable {
		r.lease = pooledBody{}
	}
	if err != nil {
		r.unreadable = newRemoteText(body, false)
	}
	switch {
	case errors.Is(err, wire.ErrNoReply):
		return nil, errNoReply
	case err != nil:
		return nil, errBroken
	}
	return reply, nil
}

// remoteText returns what the server sent in place of a reply, after readReply failed with err.
func (r *responseReader) remoteText(closer io.Closer, err error) RemoteText {
	switch {
	case r.unreadable.text != "":
		return r.unreadable
	case errors.Is(err, errHTML), errors.Is(err, errXML), errors.Is(err, errNotJSON):
		return readRemoteText(r.body, closer)
	}
	return RemoteText{}
}

// readBody reads the body into one slice of nearly its size.
func (r *responseReader) readBody() ([]byte, error) {
	if r.contentLength > int64(r.maxBody) {
		return nil, newSizeError(r.maxBody)
	}
	room := int(r.contentLength) + 1 // one more, to see EOF without growing; 0: unknown
	if room > 0 {
		if err := r.reservation.acquireBytes(room - 1); err != nil {
			return nil, err
		}
	}
	if room > 0 && (!r.poolable || room < minPooledBytes || room > maxPooledBody) {
		return r.readRest(make([]byte, 0, room))
	}
	buffer, _ := bodyPool.Get().(*[]byte) // the pool holds no other type
	body, err := r.readRest(slices.Grow((*buffer)[:0], room))
	if cap(body) > maxPooledBody {
		return body, err
	}
	*buffer = body
	if r.poolable && len(body) >= minPooledBytes {
		r.lease = pooledBody{buffer, putBody}
		return body, err
	}
	body = bytes.Clone(body)
	bodyPool.Put(buffer)
	return body, err
}

func (r *responseReader) readRest(body []byte) ([]byte, error) {
	for {
		n, err := r.body.Read(body[len(body):cap(body)])
		body = body[:len(body)+n]
		switch {
		case len(body) > r.maxBody:
			return body, newSizeError(r.maxBody)
		case errors.Is(err, io.EOF):
			r.atEOF = true
			return body, nil
		case err != nil:
			return body, err
		case len(body) == cap(body):
			if err := r.reservation.acquireMax(2 * len(body)); err != nil {
				return body, err
			}
			grown := make([]byte, len(body), min(2*len(body), r.maxBody+1))
			copy(grown, body)
			body = grown
		}
	}
}

// readEvents finds the reply among the events, and skips other messages.
func (r *responseReader) readEvents() (*wire.Reply, error) {
	stream := sse.NewReader(r.body, r.maxBody)
	if r.poolable {
		stream.Lend()
	}
	stream.OnGrow(r.reservation.acquireMax)
	defer func() {
		r.position = newStreamPosition(stream)
		stream.Close()
	}()
	end := errCutStream
	for range maxEvents {
		event, err := stream.Next()
		switch {
		case errors.Is(err, sse.ErrTooLarge):
			return nil, newSizeError(r.maxBody)
		case errors.Is(err, io.EOF):
			return nil, end
		case err != nil:
			return nil, err
		}
		reply, err := r.finder.Find(event.Data)
		if err == nil {
			if r.poolable {
				r.lease = pooledBody{stream.Lent(), sse.Reuse}
			}
			return reply, nil
		}
		if !errors.Is(err, wire.ErrNoReply) {
			end, r.unreadable = errBroken, newRemoteText(event.Data, false)
		}
		r.reservation.release()
	}
	return nil, errTooMany
}

// readyBody is a body that reports whether a read would not block.
type readyBody interface{ Ready() bool }

// drainReady discards the rest of the body that can be read without blocking, and reports whether that was the
// end. Most servers end the stream together with the reply; then no goroutine and no timer is needed.
func (r *responseReader) drainReady(src io.Reader) (atEOF bool) {
	p, ok := src.(readyBody)
	if !ok {
		return false
	}
	for range drainBytes {
		if r.body.Buffered() > 0 {
			_, _ = r.body.Discard(r.body.Buffered())
		}
		if !p.Ready() {
			return false
		}
		if _, err := r.body.Peek(1); err != nil {
			return errors.Is(err, io.EOF)
		}
	}
	return false
}

type limitedReader struct {
	src       io.Reader
	remaining int
}

func (b *limitedReader) Read(p []byte) (int, error) {
	if b.remaining <= 0 {
		return 0, errTooLarge
	}
	n, err := b.src.Read(p[:min(len(p), b.remaining)])
	b.remaining -= n
	return n, err
}
