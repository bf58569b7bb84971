package access

import (
	"runtime"
	"sync"
	"weak"

	"patchbay/internal/safe"
)

// interned keeps one of each thing for as long as somebody uses it.
type interned[K comparable, T any] struct {
	mu  sync.Mutex
	all map[K]weak.Pointer[T] // guarded by mu
}

// get finds a thing; nil: nobody uses one.
func (i *interned[K, T]) get(key K) *T {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.all[key].Value()
}

// put keeps a thing, and returns the one that was there before.
func (i *interned[K, T]) put(key K, made *T) *T {
	i.mu.Lock()
	defer i.mu.Unlock()
	if there := i.all[key].Value(); there != nil {
		return there
	}
	if i.all == nil {
		i.all = map[K]weak.Pointer[T]{}
	}
	i.all[key] = weak.Make(made)
	runtime.AddCleanup(made, i.forget, key)
	return made
}

// forget drops the entry of a thing that is gone, unless another has taken its place. The runtime calls it in a goroutine of its own.
func (i *interned[K, T]) forget(key K) {
	defer safe.Recover(safe.View)
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.all[key].Value() == nil {
		delete(i.all, key)
	}
}
