package serve

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"patchbay/internal/safe"
)

var errDisconnected = errors.New("the connection is gone")

// resumableStream is an event stream of the handshake era that outlives its connection. A client that
// reconnects with Last-Event-ID gets the events after it. Durable events are also posted to the other processes
// once the connection is closed: the client may reconnect to any.
type resumableStream struct {
	s               *Server
	caller, session string
	id              string
	lastNumber      int           // of the newest event
	ended           chan struct{} // closed after the last event

	mu             sync.Mutex // guards the fields below
	out            *stream    // nil: disconnected
	connDone       <-chan struct{}
	isDisconnected func() bool // reports a disconnect before connDone does; may be nil
	events         []storedEvent
	size           int
}

type storedEvent struct {
	number int
	event  []byte
}

// maxNotificationBytes bounds the stored notifications of one stream. The response is always stored.
const maxNotificationBytes = 256 << 10

// nextEventID returns the id of the next event; "" if the stream has no ids.
func (s *resumableStream) nextEventID() string {
	if s == nil {
		return ""
	}
	s.lastNumber++
	return eventID(s.id, s.lastNumber)
}

func eventID(id string, number int) string { return id + "." + strconv.Itoa(number) }

func parseEventID(text string) (id string, number int, ok bool) {
	id, rest, found := strings.Cut(text, ".")
	number, err := strconv.Atoi(rest)
	return id, number, found && err == nil && number >= 0 && len(id) == streamIDLength
}

const streamIDLength = 26 // of rand.Text

// write writes an event that is not stored.
func (s *resumableStream) write(event []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.writeConn(event)
}

// durability is what happens to an event while the client is disconnected.
type durability int

const (
	transient durability = iota // it may be lost
	durable                     // it is stored, in every process
	final                       // durable, and the last event
)

func (s *resumableStream) writeStored(event []byte, kept durability) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if kept > transient || s.size+len(event) <= maxNotificationBytes {
		s.events = append(s.events, storedEvent{s.lastNumber, bytes.Clone(event)})
		s.size += len(event)
	}
	if kept > transient && s.isDisconnected != nil && s.isDisconnected() {
		s.out = nil // the socket would still take the event, and lose it
	}
	err := s.writeConn(event)
	if err != nil && kept > transient {
		s.s.postMessage(s.caller, s.mailboxName(), append([]byte{byte(kept)}, event...), s.s.opts.ResumeTTL)
		return nil
	}
	return err
}

// writeConn writes to the current connection. The caller holds mu.
func (s *resumableStream) writeConn(event []byte) error {
	if s.out != nil {
		select {
		case <-s.connDone:
			s.out = nil
		default:
		}
	}
	if s.out == nil {
		return errDisconnected
	}
	err := s.out.write(event)
	if err != nil {
		s.out = nil
	}
	return err
}

func (s *resumableStream) mailboxName() string {
	return mailboxName(boxStream, s.caller, s.session, s.id)
}

// replayTo switches to another connection and writes the events after number.
func (s *resumableStream) replayTo(ctx context.Context, st *stream, number int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.out, s.connDone, s.isDisconnected = st, ctx.Done(), nil
	_ = s.writeConn(keepAlive) // an error shows at the next write
	for _, one := range s.events {
		if one.number > number {
			_ = s.writeConn(one.event)
		}
	}
}

// serveTo writes the events after number to another connection, then new ones, until ctx or the stream ends.
func (s *resumableStream) serveTo(ctx context.Context, st *stream, number int) {
	s.replayTo(ctx, st, number)
	select {
	case <-ctx.Done():
	case <-s.ended:
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.out == st {
		s.out = nil
	}
}

// resumableStreams are the streams of this process, running and ended.
type resumableStreams struct {
	maxBytes  int           // of ended streams
	retention time.Duration // of ended streams

	mu         sync.Mutex // guards the fields below
	byID       map[string]*resumableStream
	ended      []endedStream // oldest first
	size       int           // bytes of ended
	sweepTimer *time.Timer
}

type endedStream struct {
	*resumableStream
	expires time.Time
}

const (
	maxEndedBytes  = 32 << 20
	streamOverhead = 1 << 10 // bytes of a stream without its events, about
)

// start makes the request's stream resumable.
func (ts *resumableStreams) start(v *httpRequest, p *Client, st *stream) *resumableStream {
	t := &resumableStream{
		s: v.s, caller: v.caller, session: p.Session, id: rand.Text(), ended: make(chan struct{}),
		out: st, connDone: v.r.Context().Done(), isDisconnected: disconnectCheck(v.w),
	}
	ts.mu.Lock()
	if ts.byID == nil {
		ts.byID = map[string]*resumableStream{}
	}
	ts.byID[t.id] = t
	ts.mu.Unlock()
	if hasPrimingEvent(p.Version) {
		_ = t.write([]byte("id: " + eventID(t.id, 0) + "\nretry: 1000\ndata: \n\n"))
	}
	return t
}

// disconnectCheck returns the writer's own check for a disconnect; nil: only the context reports it.
func disconnectCheck(w http.ResponseWriter) func() bool {
	for {
		switch own := w.(type) {
		case interface{ ClientDisconnected() bool }:
			return own.ClientDisconnected
		case interface{ Unwrap() http.ResponseWriter }:
			w = own.Unwrap()
		default:
			return nil
		}
	}
}

// hasPrimingEvent reports whether a version begins a stream with an event that has an id and no data. Older
// clients try to parse the data.
func hasPrimingEvent(version string) bool { return version >= "2025-11-25" }

// findStream returns the stream of an id if it is the caller's, else nil.
func (ts *resumableStreams) findStream(caller, session, id string) *resumableStream {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	if t := ts.byID[id]; t != nil && t.caller == caller && t.session == session {
		return t
	}
	return nil
}

// finish ends the stream, which is kept for the retention time.
func (s *resumableStream) finish() {
	if s == nil {
		return
	}
	close(s.ended)
	s.mu.Lock()
	s.out, s.connDone, s.isDisconnected = nil, nil, nil // the connection is the server's again
	s.mu.Unlock()
	ts := &s.s.resumable
	ts.mu.Lock()
	defer ts.mu.Unlock()
	ts.ended = append(ts.ended, endedStream{s, time.Now().Add(ts.retention)})
	ts.size += s.size + streamOverhead
	for ts.size > ts.maxBytes {
		ts.dropOldest()
	}
	if ts.sweepTimer == nil && len(ts.ended) > 0 {
		ts.sweepTimer = time.AfterFunc(ts.retention, ts.expireEnded)
	}
}

// expireEnded drops expired streams and rearms the timer.
func (ts *resumableStreams) expireEnded() {
	defer safe.Recover(safe.Timer)
	ts.mu.Lock()
	defer ts.mu.Unlock()
	for len(ts.ended) > 0 && !ts.ended[0].expires.After(time.Now()) {
		ts.dropOldest()
	}
	ts.sweepTimer = nil
	if len(ts.ended) > 0 {
		ts.sweepTimer = time.AfterFunc(time.Until(ts.ended[0].expires), ts.expireEnded)
	}
}

// dropOldest drops the oldest ended stream. The caller holds mu.
func (ts *resumableStreams) dropOldest() {
	oldest := ts.ended[0].resumableStream
	ts.ended[0] = endedStream{}
	ts.ended = ts.ended[1:]
	ts.size -= oldest.size + streamOverhead
	delete(ts.byID, oldest.id)
}
