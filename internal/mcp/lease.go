package mcp

import "sync"

const (
	// minLent is what is worth the trouble of being given back, in bytes: of what is shorter, most is kept, and a copy of its own costs little.
	minLent = 4 << 10
	// maxScratch bounds what is kept for the next body. Longer ones are rare.
	maxScratch = 256 << 10
)

// scratch is where bodies of unknown length are collected. A copy of the right size costs less than growing does, and lending it costs
// less than a copy.
var scratch = sync.Pool{New: func() any {
	space := make([]byte, 0, 8<<10)
	return &space
}}

func reuseScratch(space *[]byte) { scratch.Put(space) }

// lease is memory that a result stands in, until it is given back. What is never given back is collected like anything else.
type lease struct {
	space *[]byte
	reuse func(*[]byte)
}

// Lent tells whether the result stands in memory that is used again after Release.
func (r *Result) Lent() bool { return r.lease.space != nil }

// Release gives back the memory of a result that was called for with [Call.Lend]: nobody may look at it, or at a part of it, from now
// on. It is called once at most. A result that somebody keeps is never released.
func (r *Result) Release() {
	if r.lease.space != nil {
		r.lease.reuse(r.lease.space)
		r.lease = lease{}
	}
}
