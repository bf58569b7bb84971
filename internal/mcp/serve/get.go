package serve

import (
	"bytes"
	"context"
	"net/http"
	"strconv"
	"time"

	"patchbay/internal/mcp/revision"
)

// serveGet opens a listener's stream or resumes a broken one, both of the handshake era.
func (v *httpRequest) serveGet() {
	p := v.requireSession()
	if p == nil {
		return
	}
	if _, takes := parseAccept(v.r.Header); !takes {
		v.rejectRequest(newStatusError(http.StatusNotAcceptable, revision.CodeInvalidRequest, "Accept text/event-stream."))
		return
	}
	last := v.r.Header.Get(revision.HeaderLastEventID)
	if last == "" || last == listenID {
		v.serveLegacyListen(p, last != "")
		return
	}
	id, number, ok := cutEventID(last)
	if t := v.s.resumable.findStream(v.caller, p.Session, id); ok && t != nil {
		t.serveTo(v.r.Context(), openEventStream(v), number)
		return
	}
	if !ok || v.s.opts.Router == nil {
		v.rejectRequest(invalidRequest("There is no such stream to go on with."))
		return
	}
	v.resumeStream(p, id, number)
}

// requireSession returns the peer of the request's session; nil: none, and the error was sent.
func (v *httpRequest) requireSession() *Peer {
	id := v.r.Header.Get(revision.HeaderSession)
	if id == "" {
		v.rejectMethod()
		return nil
	}
	p, failure := v.s.findPeer(v.caller, id)
	if failure != nil {
		v.rejectRequest(failure)
		return nil
	}
	return p
}

// resumeStream sends the events of a stream that runs, or ran, in another process.
func (v *httpRequest) resumeStream(p *Peer, id string, number int) {
	ctx, stop := context.WithTimeout(v.r.Context(), v.s.opts.Stay)
	defer stop()
	entry, failure := v.s.listeners.add(v.s.opts.Payer(v.caller), stop)
	if failure != nil {
		v.rejectRequest(failure)
		return
	}
	defer v.s.listeners.remove(entry)
	box := boxName(boxStream, v.caller, p.Session, id)
	wake := make(chan struct{}, 1)
	waiter := v.s.mailboxes.addWaiter(box, func([]byte) { trySignal(wake) })
	defer v.s.mailboxes.removeWaiter(box, waiter)
	tick := time.NewTicker(v.s.opts.KeepAlive)
	defer tick.Stop()
	st := openEventStream(v)
	if st.write(keepAlive) != nil {
		return
	}
	for {
		var done bool
		if number, done = v.replayMailbox(ctx, st, box, id, number); done {
			return
		}
		select {
		case <-wake:
		case <-tick.C:
			if st.write(keepAlive) != nil {
				return
			}
		case <-ctx.Done():
			return
		}
	}
}

// replayMailbox sends the mailbox's events after number and returns the newest number. done: the stream has
// ended.
func (v *httpRequest) replayMailbox(ctx context.Context, st *stream, box, id string, number int) (newest int, done bool) {
	for _, message := range v.s.fetchMessages(ctx, v.caller, box) {
		if len(message) == 0 {
			continue
		}
		kept, event := durability(message[0]), message[1:]
		if n := parseEventNumber(event, id); n > number {
			if st.write(event) != nil {
				return number, true
			}
			number = n
		}
		if kept == final {
			return number, true
		}
	}
	return number, false
}

// parseEventNumber returns the number of an event of stream id; 0: none.
func parseEventNumber(event []byte, id string) int {
	rest, ok := bytes.CutPrefix(event, []byte("id: "+id+"."))
	text, _, found := bytes.Cut(rest, []byte("\n"))
	if number, err := strconv.Atoi(string(text)); ok && found && err == nil {
		return number
	}
	return 0
}

// trySignal wakes the receiver unless a signal is pending.
func trySignal(wake chan struct{}) {
	select {
	case wake <- struct{}{}:
	default:
	}
}

var errShuttingDown = newStatusError(http.StatusServiceUnavailable, revision.CodeInternal, "This server is going down. Please try again.")

func (v *httpRequest) serveDelete() {
	p := v.requireSession()
	if p == nil {
		return
	}
	box := boxName(boxEnded, v.caller, p.Session, "")
	v.s.endedSessions.put(box, true)
	v.s.postMessage(v.caller, box, []byte{}, briefRetention)
	v.w.WriteHeader(http.StatusNoContent)
}
