package serve

import "sync"

// recent remembers the newest of many things in bounded memory: those of two generations, the older of which is dropped as a whole.
type recent[K comparable, V any] struct {
	most int // of one generation

	mu       sync.Mutex // guards what follows
	now, old map[K]V
}

func newRecent[K comparable, V any](most int) *recent[K, V] {
	return &recent[K, V]{most: most, now: map[K]V{}}
}

// get is what was put under a key; the zero value: nothing, or too long ago.
func (r *recent[K, V]) get(key K) V {
	r.mu.Lock()
	defer r.mu.Unlock()
	value, ok := r.now[key]
	if !ok {
		if value, ok = r.old[key]; ok {
			r.add(key, value)
		}
	}
	return value
}

// put remembers.
func (r *recent[K, V]) put(key K, value V) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.add(key, value)
}

func (r *recent[K, V]) add(key K, value V) {
	if len(r.now) >= r.most {
		r.old, r.now = r.now, make(map[K]V, r.most)
	}
	r.now[key] = value
}
