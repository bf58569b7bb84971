package mcp

import "sync"

const (
	// minPooledBytes is the minimum length of a lent body. Copying a shorter one costs little, and most of those
	// are kept.
	minPooledBytes = 4 << 10
	// maxPooledBody bounds a buffer that returns to the pool; longer bodies are rare.
	maxPooledBody = 256 << 10
)

// bodyPool holds buffers for bodies of unknown length. Copying to the exact size costs less than growing;
// lending costs less than copying.
var bodyPool = sync.Pool{New: func() any {
	space := make([]byte, 0, 8<<10)
	return &space
}}

func putBody(space *[]byte) { bodyPool.Put(space) }

// pooledBody is pooled memory that a result uses. Without a release it is garbage collected.
type pooledBody struct {
	buffer  *[]byte
	release func(*[]byte)
}

// IsPooled reports whether the result uses pooled memory until Release.
func (r *Result) IsPooled() bool { return r.lease.buffer != nil }

// Release returns the memory of a result of a call with [Call.AllowPooled]. The result and its parts must not be used
// afterwards. It is called at most once, and never for a result that is kept.
func (r *Result) Release() {
	if r.lease.buffer != nil {
		r.lease.release(r.lease.buffer)
		r.lease = pooledBody{}
	}
}
