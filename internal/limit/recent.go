package limit

import "sync"

// Recent is a bounded cache of two generations. When the current one is full, the previous one is dropped.
type Recent[K comparable, V any] struct {
	maxEntries int // of one generation

	mu                sync.Mutex // guards the fields below
	current, previous map[K]V
}

// NewRecent returns a cache with at most this many entries in a generation.
func NewRecent[K comparable, V any](maxEntries int) *Recent[K, V] {
	return &Recent[K, V]{maxEntries: maxEntries, current: map[K]V{}}
}

// Get returns the value of a key, or the zero value, and keeps it in the cache.
func (r *Recent[K, V]) Get(key K) V {
	r.mu.Lock()
	defer r.mu.Unlock()
	value, ok := r.current[key]
	if !ok {
		if value, ok = r.previous[key]; ok {
			r.addEntry(key, value)
		}
	}
	return value
}

// Put sets the value of a key.
func (r *Recent[K, V]) Put(key K, value V) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.addEntry(key, value)
}

func (r *Recent[K, V]) addEntry(key K, value V) {
	if len(r.current) >= r.maxEntries {
		r.previous, r.current = r.current, make(map[K]V, r.maxEntries)
	}
	r.current[key] = value
}
