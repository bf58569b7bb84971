package serve

import "sync"

// recentCache is a bounded cache of two generations. When the current one is full, the previous one is dropped.
type recentCache[K comparable, V any] struct {
	maxEntries int // of one generation

	mu                sync.Mutex // guards the fields below
	current, previous map[K]V
}

func newRecentCache[K comparable, V any](maxEntries int) *recentCache[K, V] {
	return &recentCache[K, V]{maxEntries: maxEntries, current: map[K]V{}}
}

func (r *recentCache[K, V]) get(key K) V {
	r.mu.Lock()
	defer r.mu.Unlock()
	value, ok := r.current[key]
	if !ok {
		if value, ok = r.previous[key]; ok {
			r.add(key, value)
		}
	}
	return value
}

func (r *recentCache[K, V]) put(key K, value V) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.add(key, value)
}

func (r *recentCache[K, V]) add(key K, value V) {
	if len(r.current) >= r.maxEntries {
		r.previous, r.current = r.current, make(map[K]V, r.maxEntries)
	}
	r.current[key] = value
}
