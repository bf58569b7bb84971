package serve

import (
	"bytes"
	"errors"
	"net/http"
	"time"
)

// writer takes whole events.
type writer interface{ write(events []byte) error }

// stream is where the reply to one HTTP request is written.
type stream struct {
	w       http.ResponseWriter
	control http.ResponseController
	s       *Server
	who     string
	shared  bool   // what is written stands in memory anyway
	held    holder // nil: it cannot be held
}

// reply is where the visit's reply goes.
func (v *visit) reply() stream {
	return stream{w: v.w, control: *http.NewResponseController(v.w), s: v.s, who: v.who, held: holderOf(v.w, v.r)}
}

// openStream begins an event stream. An event must be written at once: it takes the header with it.
func openStream(v *visit) *stream {
	streamHeader(v.w.Header())
	st := v.reply()
	return &st
}

func streamHeader(h http.Header) {
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no")
}

// write sends whole events.
func (st *stream) write(events []byte) error { return st.send(events) }

// mostAtOnce is how much is written before the client must have taken what came before.
const mostAtOnce = 256 << 10

// send writes parts and sees them off. A client that takes no byte for a while is gone. Long ones stand in memory until they are taken,
// which is bounded. No deadline stays: the next request on the connection may be answered by somebody who sets none.
func (st *stream) send(parts ...[]byte) error {
	size := 0
	for _, part := range parts {
		size += len(part)
	}
	if size > mostCopied && !st.shared {
		p := st.s.shelf.put(st.s.opts.Payer(st.who), size, http.NewResponseController(st.w))
		defer p.done()
		return st.together(size, parts, p.next)
	}
	defer func() { _ = st.control.SetWriteDeadline(time.Time{}) }()
	return st.together(size, parts, st.extend)
}

// together writes parts, in one write to the connection where net/http would make several.
func (st *stream) together(size int, parts [][]byte, next func() error) error {
	if st.held == nil || size < leastHeld || size > mostHeld {
		return st.pieces(parts, next)
	}
	st.held.Hold()
	err := st.pieces(parts, next)
	return errors.Join(err, st.held.Let())
}

// extend gives the client another while.
func (st *stream) extend() error {
	_ = st.control.SetWriteDeadline(time.Now().Add(st.s.opts.Stall))
	return nil
}

// pieces writes parts, with time for each piece.
func (st *stream) pieces(parts [][]byte, next func() error) error {
	for _, part := range parts {
		for len(part) > 0 {
			if err := next(); err != nil {
				return err
			}
			n := min(len(part), mostAtOnce)
			if _, err := st.w.Write(part[:n]); err != nil {
				return err
			}
			part = part[n:]
		}
	}
	return st.control.Flush()
}

// keepAlive is a comment.
var keepAlive = []byte(":\n\n")

// beginEvent writes what comes before an event's data, which is on one line.
func beginEvent(b []byte, id string) []byte {
	if id != "" {
		b = append(append(append(b, "id: "...), id...), '\n')
	}
	return append(b, "event: message\ndata: "...)
}

// endEvent ends the event whose data begin at from. Line ends in JSON stand between its tokens only.
func endEvent(b []byte, from int) []byte {
	for _, end := range []byte("\n\r") {
		for rest := b[from:]; ; {
			i := bytes.IndexByte(rest, end)
			if i < 0 {
				break
			}
			rest[i] = ' '
			rest = rest[i+1:]
		}
	}
	return append(b, "\n\n"...)
}
