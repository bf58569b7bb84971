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

var errGone = errors.New("the connection is gone")

// tape is an event stream of the handshake era that outlives its connection: a client that comes back with the id of the last event
// that it has gets those behind it. What matters is also told to the other processes once the connection is gone, for the client
// may come back to any of them.
type tape struct {
	s            *Server
	who, session string
	id           string
	last         int           // number of the newest event
	ended        chan struct{} // closed behind the last event

	mu     sync.Mutex // guards what follows
	out    *stream    // nil: nobody reads
	gone   <-chan struct{}
	left   func() bool // nil, or tells sooner than gone
	events []recorded
	size   int
}

type recorded struct {
	number int
	event  []byte
}

// mostNotes bounds the notifications that are kept of one stream; the answer is always kept.
const mostNotes = 256 << 10

// next is the id of the next event; "" where there are no ids.
func (t *tape) next() string {
	if t == nil {
		return ""
	}
	t.last++
	return eventID(t.id, t.last)
}

func eventID(id string, number int) string { return id + "." + strconv.Itoa(number) }

// cutEventID is the opposite of eventID.
func cutEventID(text string) (id string, number int, ok bool) {
	id, rest, found := strings.Cut(text, ".")
	number, err := strconv.Atoi(rest)
	return id, number, found && err == nil && number >= 0 && len(id) == streamIDLength
}

const streamIDLength = 26 // of rand.Text

// write sends what need not be kept.
func (t *tape) write(event []byte) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.send(event)
}

// weight is what becomes of an event that nobody reads.
type weight int

const (
	passing weight = iota // it may be lost
	lasting               // it is kept for who comes back, in every process
	final                 // and nothing comes after it
)

// keep sends the newest event, and keeps it.
func (t *tape) keep(event []byte, how weight) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if how > passing || t.size+len(event) <= mostNotes {
		t.events = append(t.events, recorded{t.last, bytes.Clone(event)})
		t.size += len(event)
	}
	if how > passing && t.left != nil && t.left() {
		t.out = nil // it would still be taken by the socket, and be lost
	}
	err := t.send(event)
	if err != nil && how > passing {
		t.s.mail(t.who, t.box(), append([]byte{byte(how)}, event...), t.s.opts.Stay)
		return nil
	}
	return err
}

// send writes to the connection that there is. mu is held.
func (t *tape) send(event []byte) error {
	if t.out != nil {
		select {
		case <-t.gone:
			t.out = nil
		default:
		}
	}
	if t.out == nil {
		return errGone
	}
	err := t.out.write(event)
	if err != nil {
		t.out = nil
	}
	return err
}

func (t *tape) box() string { return boxName(boxStream, t.who, t.session, t.id) }

// replay sends to another connection what is behind an event.
func (t *tape) replay(ctx context.Context, st *stream, number int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.out, t.gone, t.left = st, ctx.Done(), nil
	_ = t.send(keepAlive) // an error shows at the next write
	for _, one := range t.events {
		if one.number > number {
			_ = t.send(one.event)
		}
	}
}

// attach sends to another connection what is behind an event, and what is still to come, until ctx or the stream ends.
func (t *tape) attach(ctx context.Context, st *stream, number int) {
	t.replay(ctx, st, number)
	select {
	case <-ctx.Done():
	case <-t.ended:
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.out == st {
		t.out = nil
	}
}

// tapes are those of this process, running and kept.
type tapes struct {
	most int           // bytes of ended ones
	stay time.Duration // of ended ones

	mu    sync.Mutex // guards what follows
	byID  map[string]*tape
	old   []keptTape // ended ones, oldest first
	size  int        // of those
	sweep *time.Timer
}

type keptTape struct {
	*tape
	until time.Time
}

const (
	mostKept = 32 << 20 // bytes of ended streams
	perTape  = 1 << 10  // bytes that one takes without its events, about
)

// begin records a stream to the visit's connection.
func (ts *tapes) begin(v *visit, p *Peer, st *stream) *tape {
	t := &tape{
		s: v.s, who: v.who, session: p.Session, id: rand.Text(), ended: make(chan struct{}),
		out: st, gone: v.r.Context().Done(), left: goneOf(v.w),
	}
	ts.mu.Lock()
	if ts.byID == nil {
		ts.byID = map[string]*tape{}
	}
	ts.byID[t.id] = t
	ts.mu.Unlock()
	if primes(p.Version) {
		_ = t.write([]byte("id: " + eventID(t.id, 0) + "\nretry: 1000\ndata: \n\n"))
	}
	return t
}

// goneOf is how a reply's writer tells at once that the client has gone, where it can; nil: the context tells soon enough.
func goneOf(w http.ResponseWriter) func() bool {
	for {
		switch own := w.(type) {
		case interface{ Gone() bool }:
			return own.Gone
		case interface{ Unwrap() http.ResponseWriter }:
			w = own.Unwrap()
		default:
			return nil
		}
	}
}

// primes tells whether a version begins a stream with an event that has an id and no data. Older clients try to read those.
func primes(version string) bool { return version >= "2025-11-25" }

// find is the stream of an id, where it is the caller's.
func (ts *tapes) find(who, session, id string) *tape {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	if t := ts.byID[id]; t != nil && t.who == who && t.session == session {
		return t
	}
	return nil
}

// end closes the stream, which stays for a while.
func (t *tape) end() {
	if t == nil {
		return
	}
	close(t.ended)
	t.mu.Lock()
	t.out, t.gone, t.left = nil, nil, nil // the connection is the server's again
	t.mu.Unlock()
	ts := &t.s.tapes
	ts.mu.Lock()
	defer ts.mu.Unlock()
	ts.old = append(ts.old, keptTape{t, time.Now().Add(ts.stay)})
	ts.size += t.size + perTape
	for ts.size > ts.most {
		ts.drop()
	}
	if ts.sweep == nil && len(ts.old) > 0 {
		ts.sweep = time.AfterFunc(ts.stay, ts.forget)
	}
}

// forget drops what has stayed long enough, and comes back for the rest.
func (ts *tapes) forget() {
	defer safe.Recover(safe.Timer)
	ts.mu.Lock()
	defer ts.mu.Unlock()
	for len(ts.old) > 0 && !ts.old[0].until.After(time.Now()) {
		ts.drop()
	}
	ts.sweep = nil
	if len(ts.old) > 0 {
		ts.sweep = time.AfterFunc(time.Until(ts.old[0].until), ts.forget)
	}
}

// drop forgets the oldest stream. mu is held.
func (ts *tapes) drop() {
	oldest := ts.old[0].tape
	ts.old[0] = keptTape{}
	ts.old = ts.old[1:]
	ts.size -= oldest.size + perTape
	delete(ts.byID, oldest.id)
}
