package serve

import (
	"bytes"
	"context"
	"net/http"
	"strconv"
	"time"

	"patchbay/internal/mcp/revision"
)

// get opens a stream for what we have to say, or takes up one that broke. Both are of the handshake era.
func (v *visit) get() {
	p := v.session()
	if p == nil {
		return
	}
	if _, takes := accepted(v.r.Header); !takes {
		v.turnAway(refusal(http.StatusNotAcceptable, revision.CodeInvalidRequest, "Accept text/event-stream."))
		return
	}
	last := v.r.Header.Get(revision.HeaderLastEventID)
	if last == "" || last == listenID {
		v.listenLegacy(p, last != "")
		return
	}
	id, number, ok := cutEventID(last)
	if t := v.s.tapes.find(v.who, p.Session, id); ok && t != nil {
		t.attach(v.r.Context(), openStream(v), number)
		return
	}
	if !ok || v.s.opts.Router == nil {
		v.turnAway(invalid("There is no such stream to go on with."))
		return
	}
	v.resume(p, id, number)
}

// session is the peer whose session the request names. nil: there is none, and the request was answered.
func (v *visit) session() *Peer {
	id := v.r.Header.Get(revision.HeaderSession)
	if id == "" {
		v.notAllowed()
		return nil
	}
	p, failure := v.s.peer(v.who, id)
	if failure != nil {
		v.turnAway(failure)
		return nil
	}
	return p
}

// resume waits for what another process has to say on a stream that it runs, or ran.
func (v *visit) resume(p *Peer, id string, number int) {
	ctx, stop := context.WithTimeout(v.r.Context(), v.s.opts.Stay)
	defer stop()
	me, failure := v.s.listeners.join(v.s.opts.Payer(v.who), stop)
	if failure != nil {
		v.turnAway(failure)
		return
	}
	defer v.s.listeners.leave(me)
	box := boxName(boxStream, v.who, p.Session, id)
	news := make(chan struct{}, 1)
	waiting := v.s.boxes.wait(box, func([]byte) { signal(news) })
	defer v.s.boxes.leave(box, waiting)
	tick := time.NewTicker(v.s.opts.KeepAlive)
	defer tick.Stop()
	st := openStream(v)
	if st.write(keepAlive) != nil {
		return
	}
	for {
		var done bool
		if number, done = v.replay(ctx, st, box, id, number); done {
			return
		}
		select {
		case <-news:
		case <-tick.C:
			if st.write(keepAlive) != nil {
				return
			}
		case <-ctx.Done():
			return
		}
	}
}

// replay sends what is in the box behind an event, and tells the number of the newest. done: there will be no more.
func (v *visit) replay(ctx context.Context, st *stream, box, id string, number int) (newest int, done bool) {
	for _, message := range v.s.fetch(ctx, v.who, box) {
		if len(message) == 0 {
			continue
		}
		how, event := weight(message[0]), message[1:]
		if n := numberOf(event, id); n > number {
			if st.write(event) != nil {
				return number, true
			}
			number = n
		}
		if how == final {
			return number, true
		}
	}
	return number, false
}

// numberOf reads the number of an event of the stream id.
func numberOf(event []byte, id string) int {
	rest, ok := bytes.CutPrefix(event, []byte("id: "+id+"."))
	text, _, found := bytes.Cut(rest, []byte("\n"))
	if number, err := strconv.Atoi(string(text)); ok && found && err == nil {
		return number
	}
	return 0
}

// signal wakes who waits on the channel, if nobody did yet.
func signal(news chan struct{}) {
	select {
	case news <- struct{}{}:
	default:
	}
}

var errShut = refusal(http.StatusServiceUnavailable, revision.CodeInternal, "This server is going down. Please try again.")

// delete ends a session.
func (v *visit) delete() {
	p := v.session()
	if p == nil {
		return
	}
	box := boxName(boxEnded, v.who, p.Session, "")
	v.s.ended.put(box, true)
	v.s.mail(v.who, box, []byte{}, briefly)
	v.w.WriteHeader(http.StatusNoContent)
}
