package serve

import (
	"bytes"
	"net/http"
	"time"
)

// writer takes whole events.
type writer interface{ write(events []byte) error }

// stream is an open event stream to a client.
type stream struct {
	w       http.ResponseWriter
	control *http.ResponseController
	stall   time.Duration
}

// openStream begins the reply. An event must be written at once: it takes the header with it.
func openStream(w http.ResponseWriter, stall time.Duration) *stream {
	streamHeader(w.Header())
	return &stream{w: w, control: http.NewResponseController(w), stall: stall}
}

func streamHeader(h http.Header) {
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no")
}

// write sends whole events. A client that takes no byte for a while is gone.
func (st *stream) write(events []byte) error { return send(st.w, st.control, st.stall, events) }

// mostAtOnce is what the slowest client must be able to take in the time that it has for one write.
const mostAtOnce = 256 << 10

// send writes parts and sees them off, with a deadline for each. None stays: the next request on the connection may be answered by
// somebody who sets none.
func send(w http.ResponseWriter, control *http.ResponseController, stall time.Duration, parts ...[]byte) error {
	defer func() { _ = control.SetWriteDeadline(time.Time{}) }()
	_ = control.SetWriteDeadline(time.Now().Add(stall))
	for _, part := range parts {
		for len(part) > mostAtOnce {
			if _, err := w.Write(part[:mostAtOnce]); err != nil {
				return err
			}
			part = part[mostAtOnce:]
			_ = control.SetWriteDeadline(time.Now().Add(stall))
		}
		if _, err := w.Write(part); err != nil {
			return err
		}
	}
	return control.Flush()
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
