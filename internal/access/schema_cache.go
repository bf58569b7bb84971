package access

import (
	"sync"
	"sync/atomic"
	"weak"
)

// schemaCache holds compiled input schemas within a budget of bytes, and drops those first that were not used lately.
type schemaCache struct {
	budget int64

	mu      sync.Mutex
	entries []*schemaEntry // guarded by mu
	hand    int            // guarded by mu: the entry that is looked at next
	bytes   int64          // guarded by mu
}

// schemaEntry is one compiled schema.
type schemaEntry struct {
	owner  weak.Pointer[definition]
	schema *schema
	used   atomic.Bool // since the hand was there
}

// get is a definition's input schema. It is compiled once, however many calls wait for it, until it is dropped. A nil cache drops none.
func (c *schemaCache) get(d *definition) *schema {
	if e := d.compiled.Load(); e != nil {
		if !e.used.Load() { // else calls on other processors would wait for the cache line
			e.used.Store(true)
		}
		return e.schema
	}
	d.compiling.Lock()
	defer d.compiling.Unlock()
	if e := d.compiled.Load(); e != nil {
		return e.schema
	}
	e := &schemaEntry{owner: weak.Make(d), schema: compile(d.inputSchema)}
	e.used.Store(true)
	d.compiled.Store(e)
	if c != nil {
		c.add(e)
	}
	return e.schema
}

func (c *schemaCache) add(e *schemaEntry) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.entries = append(c.entries, e)
	for c.bytes += e.schema.bytes; c.bytes > c.budget; {
		c.hand %= len(c.entries)
		at := c.entries[c.hand]
		owner := at.owner.Value()
		if owner != nil && at.used.Swap(false) {
			c.hand++
			continue
		}
		if owner != nil {
			owner.compiled.CompareAndSwap(at, nil)
		}
		c.bytes -= at.schema.bytes
		last := len(c.entries) - 1
		c.entries[c.hand], c.entries[last] = c.entries[last], nil
		c.entries = c.entries[:last]
	}
}

// size is how much memory the compiled schemas have, in bytes.
func (c *schemaCache) size() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.bytes
}
