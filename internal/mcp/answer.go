package mcp

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"

	"patchbay/internal/mcp/sse"
	"patchbay/internal/mcp/wire"
)

// What one answer may hold.
const (
	maxBody   = 8 << 20  // of a JSON body, or of one event
	maxStream = 32 << 20 // of a whole event stream
	maxEvents = 10_000   // before the reply
)

var byteOrderMark = []byte("\xef\xbb\xbf")

// What can be wrong with an answer. The texts are shown.
var (
	errEmpty     = errors.New("sent an empty answer")
	errHTML      = errors.New("answered with HTML")
	errXML       = errors.New("answered with XML")
	errNotJSON   = errors.New("answered with something that is not JSON")
	errBroken    = errors.New("answered with broken JSON")
	errNoReply   = errors.New("answered with something that is no reply")
	errCutStream = errors.New("ended its stream before the reply")
	errTooLarge  = errors.New("sent more than 8 MiB")
	errTooMany   = errors.New("sent more than 10000 messages before its reply")
)

// answer is the successful response to one request.
type answer struct {
	src    bounded
	body   *bufio.Reader // of src
	length int64         // as announced; -1: it was not
	kind   string
	reply  wire.Finder
	lends  bool // the reply may stand in memory that is used again
	lease  lease
	claim  claim
	mark   mark // how far an event stream came
	ended  bool // the body was read to its end
}

func newAnswer(resp *http.Response, m outgoing, to inbox, c claim) *answer {
	a := &answer{
		claim:  c,
		src:    bounded{src: resp.Body, left: maxStream},
		length: resp.ContentLength,
		kind:   resp.Header.Get("Content-Type"),
		lends:  m.lend,
		reply:  wire.Finder{ID: m.id, Paged: m.paged, Fields: m.phase == PhaseCall},
	}
	a.body = takeReader(&a.src)
	if to != nil {
		a.reply.Other = func(other wire.Message) {
			a.lends = false // it is kept
			to(m.id, other)
		}
	}
	return a
}

// readers are those that no answer uses.
var readers = sync.Pool{New: func() any { return bufio.NewReader(nil) }}

func takeReader(src io.Reader) *bufio.Reader {
	r, _ := readers.Get().(*bufio.Reader) // nothing else is in there
	r.Reset(src)
	return r
}

// release gives back what the answer was read with. Nothing may read it any more.
func (a *answer) release() {
	a.claim.give()
	a.body.Reset(nil)
	readers.Put(a.body)
}

// read finds the reply. What the body is shows in its first bytes, whatever the content type says.
func (a *answer) read() (*wire.Reply, error) {
	start, err := a.start()
	if errors.Is(err, errEmpty) && a.streams() {
		err = errCutStream // before its first event
	}
	if err != nil {
		return nil, err
	}
	switch {
	case start[0] == '{' || start[0] == '[':
		return a.json()
	case start[0] == '<':
		return nil, a.markup()
	case looksLikeEvents(start), a.streams():
		return a.events()
	case strings.IndexByte(`"tfn-0123456789`, start[0]) >= 0:
		return a.scalar()
	}
	return nil, errNotJSON
}

// streams tells whether events were announced.
func (a *answer) streams() bool {
	return strings.HasPrefix(strings.ToLower(a.kind), "text/event-stream")
}

// markup tells a page from a document.
func (a *answer) markup() error {
	const declaration = "<?xml"
	if start, _ := a.body.Peek(len(declaration)); string(start) == declaration {
		return errXML
	}
	return errHTML
}

// scalar reads what may be JSON and can be no message: null, a text around one.
func (a *answer) scalar() (*wire.Reply, error) {
	reply, err := a.json()
	if errors.Is(err, errBroken) {
		err = errNotJSON
	}
	return reply, err
}

// start passes over white space and a byte order mark, and returns the bytes behind them, at most as many as it takes
// to tell a stream.
func (a *answer) start() ([]byte, error) {
	for {
		if _, err := a.body.Peek(1); err != nil {
			if errors.Is(err, io.EOF) {
				err = errEmpty
			}
			return nil, err
		}
		there, _ := a.body.Peek(a.body.Buffered())
		rest := bytes.TrimLeft(there, " \t\r\n")
		rest = bytes.TrimPrefix(rest, byteOrderMark)
		_, _ = a.body.Discard(len(there) - len(rest))
		switch {
		case len(rest) == 0 || len(rest) < len(there):
		case rest[0] == byteOrderMark[0]: // the first byte of one, perhaps: the next round sees
			if mark, _ := a.body.Peek(len(byteOrderMark)); !bytes.Equal(mark, byteOrderMark) {
				return rest[:1], nil
			}
		case strings.IndexByte("edir", rest[0]) >= 0:
			// What is short is not a stream; its error comes again.
			start, _ := a.body.Peek(len("event:"))
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

func (a *answer) json() (*wire.Reply, error) {
	body, err := a.whole()
	if err != nil {
		return nil, err
	}
	reply, err := a.reply.Find(body)
	if !a.lends {
		a.lease = lease{}
	}
	switch {
	case errors.Is(err, wire.ErrNoReply):
		return nil, errNoReply
	case err != nil:
		return nil, errBroken
	}
	return reply, nil
}

// whole reads the body into one slice that is at most a little longer than it.
func (a *answer) whole() ([]byte, error) {
	if a.length > maxBody {
		return nil, errTooLarge
	}
	room := int(a.length) + 1 // one more, to see the end without growing; 0: nobody knows
	if room > 0 {
		if err := a.claim.take(room - 1); err != nil {
			return nil, err
		}
	}
	if room > 0 && (!a.lends || room < minLent || room > maxScratch) {
		return a.rest(make([]byte, 0, room))
	}
	space, _ := scratch.Get().(*[]byte) // nothing else is in there
	body, err := a.rest(slices.Grow((*space)[:0], room))
	if cap(body) > maxScratch {
		return body, err
	}
	*space = body
	if a.lends && len(body) >= minLent {
		a.lease = lease{space, reuseScratch}
		return body, err
	}
	body = bytes.Clone(body)
	scratch.Put(space)
	return body, err
}

// rest reads the body to its end, behind what is in body.
func (a *answer) rest(body []byte) ([]byte, error) {
	for {
		n, err := a.body.Read(body[len(body):cap(body)])
		body = body[:len(body)+n]
		switch {
		case errors.Is(err, io.EOF):
			a.ended = true
			return body, nil
		case err != nil:
			return body, err
		case len(body) > maxBody:
			return body, errTooLarge
		case len(body) == cap(body):
			if err := a.claim.takeMost(2 * len(body)); err != nil {
				return body, err
			}
			grown := make([]byte, len(body), min(2*len(body), maxBody+1))
			copy(grown, body)
			body = grown
		}
	}
}

// events looks for the reply among the events. Notifications, the server's own requests and pings are passed over.
func (a *answer) events() (*wire.Reply, error) {
	stream := sse.NewReader(a.body, maxBody)
	if a.lends {
		stream.Lend()
	}
	stream.Grows(a.claim.takeMost)
	defer func() {
		a.mark = markOf(stream)
		stream.Close()
	}()
	end := errCutStream
	for range maxEvents {
		event, err := stream.Next()
		switch {
		case errors.Is(err, sse.ErrTooLarge):
			return nil, errTooLarge
		case errors.Is(err, io.EOF):
			return nil, end
		case err != nil:
			return nil, err
		}
		reply, err := a.reply.Find(event.Data)
		if err == nil {
			if a.lends {
				a.lease = lease{stream.Lent(), sse.Reuse}
			}
			return reply, nil
		}
		if !errors.Is(err, wire.ErrNoReply) {
			end = errBroken
		}
		a.claim.give()
	}
	return nil, errTooMany
}

// prompt is a body that can tell whether reading it would wait.
type prompt interface{ Ready() bool }

// finish reads what is left of the body where it is there already, and tells whether that was the end. Most servers send the end of a
// stream together with their reply; then nobody has to wait for it, and for nobody a clock has to run.
func (a *answer) finish(src io.Reader) (ended bool) {
	p, ok := src.(prompt)
	if !ok {
		return false
	}
	for range drainBytes {
		if a.body.Buffered() > 0 {
			_, _ = a.body.Discard(a.body.Buffered())
		}
		if !p.Ready() {
			return false
		}
		if _, err := a.body.Peek(1); err != nil {
			return errors.Is(err, io.EOF)
		}
	}
	return false
}

// bounded fails where a body is longer than it may be.
type bounded struct {
	src  io.Reader
	left int
}

func (b *bounded) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, errTooLarge
	}
	n, err := b.src.Read(p[:min(len(p), b.left)])
	b.left -= n
	return n, err
}
