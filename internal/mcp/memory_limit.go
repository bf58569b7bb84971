package mcp

import (
	"context"
	"errors"
	"sync"
	"time"

	"patchbay/internal/limit"
)

// maxFreeBytes is the length up to which a response is not counted and never waits.
const maxFreeBytes = maxPooledBody

// defaultMaxWait is how long a response waits for memory, unless its deadline is earlier.
const defaultMaxWait = 10 * time.Second

// MemoryLimit bounds the memory of long responses while they are read, in total and for each key
// ([Call.MemoryKey]). A response counts with its announced length, otherwise with the maximum. Waiting
// responses are served in order, except those of a key at its limit. A response reserves once, so that none
// waits for another while it holds memory. Shared streams (HTTP+SSE, a child process) are not counted: they
// hold one message at a time. The zero value admits one long response at a time.
type MemoryLimit struct {
	Total, PerKey int           // bytes; PerKey is at least the longest length that is read
	MaxWait       time.Duration // 0: ten seconds

	setBounds sync.Once
	bytes     limit.Bytes[[16]byte]
}

// errMemoryLimit says that no memory was free for a response. The text is shown.
var errMemoryLimit = errors.New("answered at length while too many long answers were on their way")

// acquireBytes waits for memory, for at most half of the remaining time: reading takes time, too.
func (l *MemoryLimit) acquireBytes(ctx context.Context, key [16]byte, n int) error {
	l.setBounds.Do(func() { l.bytes.Total, l.bytes.PerKey = l.Total, l.PerKey })
	maxWait := l.MaxWait
	if maxWait <= 0 {
		maxWait = defaultMaxWait
	}
	if deadline, ok := ctx.Deadline(); ok {
		maxWait = min(maxWait, time.Until(deadline)/2)
	}
	waitCtx, cancel := context.WithTimeoutCause(ctx, maxWait, errMemoryLimit)
	defer cancel()
	err := l.bytes.Acquire(waitCtx, key, n)
	if err != nil && ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

// reservation is the memory of one response. The zero value is for one that is not counted.
type reservation struct {
	limit *MemoryLimit // nil: not counted
	ctx   context.Context
	key   [16]byte
	size  int
}

// newReservation returns the reservation of a response to m.
func (c *httpTransport) newReservation(ctx context.Context, m outgoingMessage) reservation {
	if m.memoryKey == ([16]byte{}) {
		return reservation{}
	}
	return reservation{limit: c.memory, ctx: ctx, key: m.memoryKey}
}

// acquireBytes reserves n bytes, once, if n is above maxFreeBytes.
func (c *reservation) acquireBytes(n int) error {
	if c.limit == nil || c.size > 0 || n <= maxFreeBytes {
		return nil
	}
	if err := c.limit.acquireBytes(c.ctx, c.key, n); err != nil {
		return err
	}
	c.size = n
	return nil
}

// acquireMax reserves the maximum of a response once it grows above maxFreeBytes.
func (c *reservation) acquireMax(n int) error {
	if n <= maxFreeBytes {
		return nil
	}
	return c.acquireBytes(maxBody)
}

// release returns the memory.
func (c *reservation) release() {
	if c.size > 0 {
		c.limit.bytes.Release(c.key, c.size)
		c.size = 0
	}
}
