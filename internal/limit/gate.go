package limit

import (
	"context"
	"slices"
	"sync"
)

// Gate bounds how many operations are under way: of one key, and in all. Operations that wait are admitted by turns among keys, so that a key
// waits behind one operation of each other key, and not behind all that another key has waiting. The zero value bounds nothing.
type Gate[K comparable] struct {
	PerKey int // 0: any number
	Total  int // 0: any number

	mu       sync.Mutex // guards what follows
	underWay int
	byKey    map[K]int             // no zeros
	waiting  map[K][]chan struct{} // first come, first served; no empty ones
	order    []K                   // the keys of waiting, in the order of their turns
}

// NewGate returns a gate with these bounds; 0: any number.
func NewGate[K comparable](perKey, total int) *Gate[K] { return &Gate[K]{PerKey: perKey, Total: total} }

// TryAcquire begins an operation, and reports whether it may. Each that may needs a Release.
func (g *Gate[K]) TryAcquire(key K) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.admitKey(key)
}

// IsKeyFull reports whether the bound of a key, and not only that of all keys, keeps its next operation waiting.
func (g *Gate[K]) IsKeyFull(key K) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.PerKey > 0 && g.byKey[key] >= g.PerKey
}

// Acquire waits until an operation may begin, or returns ctx's cause. Each that may needs a Release.
func (g *Gate[K]) Acquire(ctx context.Context, key K) error {
	turn := g.enqueueTurn(key)
	if turn == nil {
		return nil
	}
	select {
	case <-turn:
		return nil
	case <-ctx.Done():
		g.abandonTurn(key, turn)
		return context.Cause(ctx)
	}
}

// Release ends an operation.
func (g *Gate[K]) Release(key K) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.underWay--
	if g.byKey[key]--; g.byKey[key] == 0 {
		delete(g.byKey, key)
	}
	g.admitWaiting()
}

// admitKey counts an operation, unless there are too many. mu is held.
func (g *Gate[K]) admitKey(key K) bool {
	if g.Total > 0 && g.underWay >= g.Total || g.PerKey > 0 && g.byKey[key] >= g.PerKey {
		return false
	}
	if g.byKey == nil {
		g.byKey = map[K]int{}
	}
	g.underWay++
	g.byKey[key]++
	return true
}

// enqueueTurn admits an operation and returns nil, or returns what is closed at its turn.
func (g *Gate[K]) enqueueTurn(key K) chan struct{} {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.admitKey(key) {
		return nil
	}
	if g.waiting == nil {
		g.waiting = map[K][]chan struct{}{}
	}
	if g.waiting[key] == nil {
		g.order = append(g.order, key)
	}
	turn := make(chan struct{})
	g.waiting[key] = append(g.waiting[key], turn)
	return turn
}

// admitWaiting admits the operations that may begin now. A key goes to the end after each of its turns. mu is held.
func (g *Gate[K]) admitWaiting() {
	for i := 0; i < len(g.order); {
		key := g.order[i]
		if !g.admitKey(key) {
			i++
			continue
		}
		first, rest := g.waiting[key][0], g.waiting[key][1:]
		close(first)
		g.order = slices.Delete(g.order, i, i+1)
		if len(rest) == 0 {
			delete(g.waiting, key)
			continue
		}
		g.waiting[key] = rest
		g.order = append(g.order, key)
	}
}

// abandonTurn ends the wait for a turn. A turn that came at the same moment is passed on.
func (g *Gate[K]) abandonTurn(key K, turn chan struct{}) {
	if !g.removeWaiter(key, turn) {
		g.Release(key)
	}
}

// removeWaiter reports whether a caller still waited for its turn.
func (g *Gate[K]) removeWaiter(key K, turn chan struct{}) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	queue := g.waiting[key]
	i := slices.Index(queue, turn)
	if i < 0 {
		return false
	}
	if queue = slices.Delete(queue, i, i+1); len(queue) > 0 {
		g.waiting[key] = queue
		return true
	}
	delete(g.waiting, key)
	g.order = slices.DeleteFunc(g.order, func(k K) bool { return k == key })
	return true
}
