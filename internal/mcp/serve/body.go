package serve

import (
	"errors"
	"io"
	"net/http"
	"sync"
	"time"

	"patchbay/internal/mcp/revision"
)

const (
	// leastPooled is what is worth being kept for the next one, in bytes, and what a buffer begins with.
	leastPooled = 4 << 10
	// mostPooled bounds what is kept.
	mostPooled = 1 << 20
)

// buffers are what bodies are read into and answers are put together in.
var buffers = sync.Pool{New: func() any { b := make([]byte, 0, leastPooled); return &b }}

func buffer() *[]byte { return buffers.Get().(*[]byte) }

// bufferFor is for a body of size bytes; -1: nobody knows. A short one, as most tool calls are, gets no more than it needs: a backend
// that looked at it keeps it.
func (x *exchange) bufferFor(size int64) *[]byte {
	if size < 0 || size >= leastPooled/2 {
		return buffer()
	}
	x.short = make([]byte, 0, size+1) // the byte more is where the end shows
	return &x.short
}

func reuse(b *[]byte) {
	if leastPooled <= cap(*b) && cap(*b) <= mostPooled {
		*b = (*b)[:0]
		buffers.Put(b)
	}
}

var errTooLarge = refusal(http.StatusRequestEntityTooLarge, revision.CodeInvalidRequest, "The request is too large.")

// read takes the whole body into b before anything of it is looked at, so that no slow client holds more than a buffer.
func (v *visit) read(b *[]byte) *RPCError {
	control := http.NewResponseController(v.w)
	_ = control.SetReadDeadline(time.Now().Add(v.s.opts.Stall + slowest(v.r.ContentLength)))
	err := v.readWithin(b, v.s.opts.MaxBody)
	if err == nil {
		// The server listens for the client's going away from here on: a deadline would end the request.
		_ = control.SetReadDeadline(time.Time{})
		return nil
	}
	v.w.Header().Set("Connection", "close") // there may be more of the body
	if errors.Is(err, errTooLarge) {
		return errTooLarge
	}
	return refusal(http.StatusBadRequest, revision.CodeInvalidRequest, "The request's body did not arrive.")
}

// slowest is how long so many bytes may take on a slow line.
func slowest(bytes int64) time.Duration { return time.Duration(bytes>>17) * time.Second }

func (v *visit) readWithin(b *[]byte, most int64) error {
	if v.r.ContentLength > most {
		return errTooLarge
	}
	return fill(b, v.r.Body, int(v.r.ContentLength), int(most))
}

// fill reads all of src into b, of which there should be size bytes; -1: nobody knows.
func fill(b *[]byte, src io.Reader, size, most int) error {
	space := (*b)[:0]
	if size >= cap(space) {
		space = make([]byte, 0, size+1) // the byte more is where the end shows
	}
	for {
		if len(space) > most {
			return errTooLarge
		}
		if len(space) == cap(space) {
			space = append(space, 0)[:len(space)]
		}
		n, err := src.Read(space[len(space):cap(space)])
		space = space[:len(space)+n]
		if err != nil {
			*b = space
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
	}
}
