package serve

import (
	"net/http"
	"sync"

	"patchbay/internal/limit"
	"patchbay/internal/mcp/revision"
)

// activeSet holds the running streams or requests of one kind, so that they can be counted, limited and
// cancelled.
type activeSet struct {
	byCaller limit.Gate[string] // its zero value has no bounds

	mu      sync.Mutex // guards the fields below
	closed  bool
	entries map[*activeEntry]struct{}
	empty   chan struct{} // closed when the last entry is removed; nil: not awaited
}

type activeEntry struct {
	caller string
	cancel func()
}

// add registers an entry, which must be removed. It fails after cancelAll, and when the caller has too many.
func (c *activeSet) add(caller string, cancel func()) (*activeEntry, *RPCError) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.closed:
		return nil, errShuttingDown
	case !c.byCaller.TryAcquire(caller):
		return nil, errTooManyStreams
	}
	if c.entries == nil {
		c.entries = map[*activeEntry]struct{}{}
	}
	m := &activeEntry{caller, cancel}
	c.entries[m] = struct{}{}
	return m, nil
}

var errTooManyStreams = newStatusError(http.StatusTooManyRequests, revision.CodeInternal, "Too many open streams. Close some.")

func (c *activeSet) remove(m *activeEntry) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.entries, m)
	c.byCaller.Release(m.caller)
	if len(c.entries) == 0 && c.empty != nil {
		close(c.empty)
		c.empty = nil
	}
}

func (c *activeSet) cancelAll() {
	c.mu.Lock()
	c.closed = true
	cancels := make([]func(), 0, len(c.entries))
	for entry := range c.entries {
		cancels = append(cancels, entry.cancel)
	}
	c.mu.Unlock()
	for _, end := range cancels {
		end()
	}
}

// whenEmpty returns a channel that is closed once there is no entry.
func (c *activeSet) whenEmpty() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.entries) > 0 {
		if c.empty == nil {
			c.empty = make(chan struct{})
		}
		return c.empty
	}
	closed := make(chan struct{})
	close(closed)
	return closed
}
