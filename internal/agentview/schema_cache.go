package agentview

import (
	"encoding/json"
	"sync"
	"sync/atomic"
	"weak"
)

// schemaPart is a schema of a definition.
type schemaPart int

const (
	inputPart schemaPart = iota
	outputPart
	schemaParts // their number
)

// schemaSlot holds a compiled schema of a definition.
type schemaSlot struct {
	compiled  atomic.Pointer[cachedSchema]
	compileMu sync.Mutex
}

// partSchema returns a schema of the definition; nil: none.
func (d *definition) partSchema(part schemaPart) json.RawMessage {
	if part == outputPart {
		return d.outputSchema
	}
	return d.inputSchema
}

// schemaCache bounds the memory of compiled schemas, with the CLOCK eviction algorithm.
type schemaCache struct {
	budget int64

	mu        sync.Mutex
	entries   []*cachedSchema // guarded by mu
	clockHand int             // guarded by mu: index of the next eviction candidate
	bytes     int64           // guarded by mu
}

type cachedSchema struct {
	owner  weak.Pointer[definition]
	part   schemaPart
	schema *compiledSchema
	used   atomic.Bool // since the clock hand passed
}

// get returns a schema of a definition, compiled once for all waiting calls. A nil cache never evicts.
func (c *schemaCache) get(d *definition, part schemaPart) *compiledSchema {
	slot := &d.compiled[part]
	if e := slot.compiled.Load(); e != nil {
		if !e.used.Load() { // avoids contention on the cache line
			e.used.Store(true)
		}
		return e.schema
	}
	slot.compileMu.Lock()
	defer slot.compileMu.Unlock()
	if e := slot.compiled.Load(); e != nil {
		return e.schema
	}
	e := &cachedSchema{owner: weak.Make(d), part: part, schema: compileSchema(d.partSchema(part))}
	e.used.Store(true)
	slot.compiled.Store(e)
	if c != nil {
		c.add(e)
	}
	return e.schema
}

func (c *schemaCache) add(e *cachedSchema) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.entries = append(c.entries, e)
	for c.bytes += e.schema.bytes; c.bytes > c.budget; {
		c.clockHand %= len(c.entries)
		candidate := c.entries[c.clockHand]
		owner := candidate.owner.Value()
		if owner != nil && candidate.used.Swap(false) {
			c.clockHand++
			continue
		}
		if owner != nil {
			owner.compiled[candidate.part].compiled.CompareAndSwap(candidate, nil)
		}
		c.bytes -= candidate.schema.bytes
		last := len(c.entries) - 1
		c.entries[c.clockHand], c.entries[last] = c.entries[last], nil
		c.entries = c.entries[:last]
	}
}

// size returns the memory of compiled schemas, in bytes.
func (c *schemaCache) size() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.bytes
}
