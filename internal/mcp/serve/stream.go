package serve

import (
	"bytes"
	"errors"
	"net/http"
	"time"
)

type eventWriter interface{ write(events []byte) error }

type stream struct {
	w        http.ResponseWriter
	control  http.ResponseController
	s        *Server
	caller   string
	isShared bool   // the bytes are in memory anyway: they are not counted
	holder   corker // nil: writes cannot be held
}

func (r *httpRequest) newStream() stream {
	return stream{w: r.w, control: *http.NewResponseController(r.w), s: r.s, caller: r.caller, holder: findHolder(r.w, r.r)}
}

// openEventStream begins an event stream. The first event must be written at once: it flushes the header.
func openEventStream(v *httpRequest) *stream {
	setStreamHeader(v.w.Header())
	st := v.newStream()
	return &st
}

func setStreamHeader(h http.Header) {
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no")
}

func (st *stream) write(events []byte) error { return st.sendParts(events) }

// maxPiece is the size in bytes of one write, each with a deadline of its own.
const maxPiece = 256 << 10

// sendParts writes parts and flushes. A client that reads nothing for the stall time is disconnected. Large
// parts count for the response buffer. The deadline is cleared: the connection's next handler may not set one.
func (st *stream) sendParts(parts ...[]byte) error {
	size := 0
	for _, part := range parts {
		size += len(part)
	}
	if size > maxCopied && !st.isShared {
		p := st.s.responses.add(st.s.opts.BudgetKey(st.caller), size, http.NewResponseController(st.w))
		defer p.release()
		return st.writeCoalesced(size, parts, p.extendDeadline)
	}
	defer func() { _ = st.control.SetWriteDeadline(time.Time{}) }()
	return st.writeCoalesced(size, parts, st.extendDeadline)
}

// writeCoalesced writes parts in one write to the connection where net/http would need several.
func (st *stream) writeCoalesced(size int, parts [][]byte, next func() error) error {
	if st.holder == nil || size < minHeld || size > maxHeld {
		return st.writePieces(parts, next)
	}
	st.holder.Cork()
	err := st.writePieces(parts, next)
	return errors.Join(err, st.holder.Uncork())
}

func (st *stream) extendDeadline() error {
	_ = st.control.SetWriteDeadline(time.Now().Add(st.s.opts.StallTimeout))
	return nil
}

// writePieces writes parts piece by piece; next renews the deadline.
func (st *stream) writePieces(parts [][]byte, next func() error) error {
	for _, part := range parts {
		for len(part) > 0 {
			if err := next(); err != nil {
				return err
			}
			n := min(len(part), maxPiece)
			if _, err := st.w.Write(part[:n]); err != nil {
				return err
			}
			part = part[n:]
		}
	}
	return st.control.Flush()
}

var keepAlive = []byte(":\n\n")

func beginEvent(b []byte, id string) []byte {
	if id != "" {
		b = append(append(append(b, "id: "...), id...), '\n')
	}
	return append(b, "event: message\ndata: "...)
}

// endEvent ends the event whose data begin at from. It replaces line ends, which JSON has only between tokens.
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
