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
func (i *internPool[K, T]) get(key K) *T {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.all[key].Value()
}

// put stores value unless the key has one, and returns the stored value.
func (i *internPool[K, T]) put(key K, value *T) *T {
	i.mu.Lock()
	defer i.mu.Unlock()
	if existing := i.all[key].Value(); existing != nil {
		return existing
	}
	if i.all == nil {
		i.all = map[K]weak.Pointer[T]{}
	}
	i.all[key] = weak.Make(value)
	runtime.AddCleanup(value, i.removeDead, key)
	return value
}

// removeDead deletes the entry of a collected value, unless a new one was stored. The runtime calls it in its
// own goroutine.
func (i *internPool[K, T]) removeDead(key K) {
	defer safe.Recover(safe.View)
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.all[key].Value() == nil {
		delete(i.all, key)
	}
}
