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
	// minPooled is the capacity in bytes that a pooled buffer starts with; smaller ones are not pooled.
	minPooled = 4 << 10
	// maxPooled bounds the capacity of a pooled buffer.
	maxPooled = 1 << 20
)

var bufferPool = sync.Pool{New: func() any { b := make([]byte, 0, minPooled); return &b }}

func getBuffer() *[]byte { return bufferPool.Get().(*[]byte) }

// bufferFor returns a buffer for a body of size bytes; -1: unknown. A short body, as of most tool calls, gets a
// buffer of its size: a backend that saw it keeps it.
func (x *exchange) bufferFor(size int64) *[]byte {
	if size < 0 || size >= minPooled/2 {
		return getBuffer()
	}
	x.smallBody = make([]byte, 0, size+1) // one byte more, for the read that returns EOF
	return &x.smallBody
}

func putBuffer(b *[]byte) {
	if minPooled <= cap(*b) && cap(*b) <= maxPooled {
		*b = (*b)[:0]
		bufferPool.Put(b)
	}
}

var errTooLarge = newStatusError(http.StatusRequestEntityTooLarge, revision.CodeInvalidRequest, "The request is too large.")

// readBody reads the whole body into b before it is parsed, so that a slow client holds no more than a buffer.
func (r *httpRequest) readBody(b *[]byte) *RPCError {
	control := http.NewResponseController(r.w)
	_ = control.SetReadDeadline(time.Now().Add(r.s.opts.StallTimeout + maxTransferTime(r.r.ContentLength)))
	err := r.readBounded(b, r.s.opts.MaxBody)
	if err == nil {
		// From here the server's background read detects a disconnect. A deadline would end the request.
		_ = control.SetReadDeadline(time.Time{})
		return nil
	}
	r.w.Header().Set("Connection", "close") // the rest of the body is unread
	if errors.Is(err, errTooLarge) {
		return errTooLarge
	}
	return newStatusError(http.StatusBadRequest, revision.CodeInvalidRequest, "The request body did not arrive.")
}

// maxTransferTime is how long a transfer may take: 128 KiB a second.
func maxTransferTime(bytes int64) time.Duration { return time.Duration(bytes>>17) * time.Second }

func (r *httpRequest) readBounded(b *[]byte, maxBytes int64) error {
	if r.r.ContentLength > maxBytes {
		return errTooLarge
	}
	return readAll(b, r.r.Body, int(r.r.ContentLength), int(maxBytes))
}

// readAll reads all of src into b; size is the expected length, -1: unknown.
func readAll(b *[]byte, src io.Reader, size, maxBytes int) error {
	space := (*b)[:0]
	if size >= cap(space) {
		space = make([]byte, 0, size+1) // one byte more, for the read that returns EOF
	}
	for {
		if len(space) > maxBytes {
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
