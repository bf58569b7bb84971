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
func (r *httpRequest) serveGet() {
	p := r.requireSession()
	if p == nil {
		return
	}
	if _, takes := parseAccept(r.r.Header); !takes {
		r.rejectRequest(newStatusError(http.StatusNotAcceptable, revision.CodeInvalidRequest, "Accept text/event-stream."))
		return
	}
	last := r.r.Header.Get(revision.HeaderLastEventID)
	if last == "" || last == listenID {
		r.serveLegacyListen(p, last != "")
		return
	}
	id, number, ok := parseEventID(last)
	if t := r.s.resumable.findStream(r.caller, p.Session, id); ok && t != nil {
		t.serveTo(r.r.Context(), openEventStream(r), number)
		return
	}
	if !ok || r.s.opts.Router == nil {
		r.rejectRequest(invalidRequest("No such stream to resume."))
		return
	}
	r.resumeStream(p, id, number)
}

// requireSession returns the peer of the request's session; nil: none, and the error was sent.
func (r *httpRequest) requireSession() *Client {
	id := r.r.Header.Get(revision.HeaderSession)
	if id == "" {
		r.rejectMethod()
		return nil
	}
	p, failure := r.s.findPeer(r.caller, id)
	if failure != nil {
		r.rejectRequest(failure)
		return nil
	}
	return p
}

// resumeStream sends the events of a stream that runs, or ran, in another process.
func (r *httpRequest) resumeStream(p *Client, id string, number int) {
	ctx, stop := context.WithTimeout(r.r.Context(), r.s.opts.ResumeTTL)
	defer stop()
	entry, failure := r.s.listeners.add(r.s.opts.BudgetKey(r.caller), stop)
	if failure != nil {
		r.rejectRequest(failure)
		return
	}
	defer r.s.listeners.remove(entry)
	box := mailboxName(boxStream, r.caller, p.Session, id)
	wake := make(chan struct{}, 1)
	waiter := r.s.mailboxes.addWaiter(box, func([]byte) { trySignal(wake) })
	defer r.s.mailboxes.removeWaiter(box, waiter)
	tick := time.NewTicker(r.s.opts.KeepAlive)
	defer tick.Stop()
	st := openEventStream(r)
	if st.write(keepAlive) != nil {
		return
	}
	for {
		var done bool
		if number, done = r.replayMailbox(ctx, st, box, id, number); done {
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
func (r *httpRequest) replayMailbox(ctx context.Context, st *stream, box, id string, number int) (newest int, done bool) {
	for _, message := range r.s.fetchMessages(ctx, r.caller, box) {
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

var errShuttingDown = newStatusError(http.StatusServiceUnavailable, revision.CodeInternal, "This server is shutting down. Try again.")

func (r *httpRequest) serveDelete() {
	p := r.requireSession()
	if p == nil {
		return
	}
	box := mailboxName(boxEnded, r.caller, p.Session, "")
	r.s.postedBoxes.Put(box, true)
	r.s.postMessage(r.caller, box, []byte{}, briefRetention)
	r.w.WriteHeader(http.StatusNoContent)
}
