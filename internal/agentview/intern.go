package agentview

import (
	"runtime"
	"sync"
	"weak"

	"patchbay/internal/safe"
)

// internPool holds one weakly referenced value per key.
type internPool[K comparable, T any] struct {
	mu  sync.Mutex
	all map[K]weak.Pointer[T] // guarded by mu
}

// get returns the value of a key; nil if it was collected or never stored.
func (p *internPool[K, T]) get(key K) *T {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.all[key].Value()
}

// put stores value unless the key has one, and returns the stored value.
func (p *internPool[K, T]) put(key K, value *T) *T {
	p.mu.Lock()
	defer p.mu.Unlock()
	if existing := p.all[key].Value(); existing != nil {
		return existing
	}
	if p.all == nil {
		p.all = map[K]weak.Pointer[T]{}
	}
	p.all[key] = weak.Make(value)
	runtime.AddCleanup(value, p.removeDead, key)
	return value
}

// removeDead deletes the entry of a collected value, unless a new one was stored. The runtime calls it in its
// own goroutine.
func (p *internPool[K, T]) removeDead(key K) {
	defer safe.Recover(safe.View)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.all[key].Value() == nil {
		delete(p.all, key)
	}
}
