package apiserver

import (
	"bytes"
	"io"
	"sync"
)

// callMemory is the memory of a call: the answer of the API, and the message with the result. It is the body of the response, and is
// used again once that is read to its end.
type callMemory struct {
	body   bytes.Buffer
	result []byte
	rest   []byte // of the response, that is not read yet
}

var memories = sync.Pool{New: func() any { return &callMemory{} }}

// maxKept bounds the memory that is kept for other calls, in bytes.
const maxKept = 256 << 10

// releaseMemory makes m usable for another call. No part of it may be in use.
func (m *callMemory) releaseMemory() {
	if m.body.Cap() <= maxKept && cap(m.result) <= maxKept {
		*m = callMemory{body: m.body, result: m.result[:0]}
		memories.Put(m)
	}
}

// responseBody reads the response of a call.
type responseBody struct{ memory *callMemory }

// Read implements io.Reader. The last byte releases the memory: Close may come from another goroutine while a Read is under way.
func (b *responseBody) Read(p []byte) (int, error) {
	m := b.memory
	if m == nil {
		return 0, io.EOF
	}
	n := copy(p, m.rest)
	if m.rest = m.rest[n:]; len(m.rest) > 0 {
		return n, nil
	}
	b.memory = nil
	m.releaseMemory()
	return n, io.EOF
}

// Close implements io.Closer.
func (b *responseBody) Close() error { return nil }
