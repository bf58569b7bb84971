package limit

import (
	"container/list"
	"context"
	"sync"
)

// Bytes bounds the memory of operations: of one key, and in all. Requests are granted in their order. A request that
// exceeds the share of its key waits without blocking other keys. Where nothing is in use, any number of bytes is
// granted, so that a request above a bound is served alone. The zero value grants one request at a time.
type Bytes[K comparable] struct {
	PerKey int // bytes
	Total  int // bytes

	mu    sync.Mutex // guards what follows
	inUse int
	byKey map[K]int // no zeros
	queue list.List // of *bytesRequest[K], in their order
}

// bytesRequest waits for n bytes.
type bytesRequest[K comparable] struct {
	key     K
	n       int
	granted chan struct{} // closed when the bytes are reserved
}

// Acquire reserves n bytes, n > 0. It waits until they are free, or returns ctx's cause. A reservation ends with Release of the same
// key and n. An operation that holds a reservation must not acquire another one: both could wait for each other.
func (b *Bytes[K]) Acquire(ctx context.Context, key K, n int) error {
	r := &bytesRequest[K]{key: key, n: n, granted: make(chan struct{})}
	place := b.addRequest(r)
	select {
	case <-r.granted:
		return nil
	case <-ctx.Done():
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	select {
	case <-r.granted: // at the same moment
		return nil
	default:
	}
	b.queue.Remove(place)
	b.grantWaiting() // a shorter request behind it may fit
	return context.Cause(ctx)
}

// Release ends a reservation.
func (b *Bytes[K]) Release(key K, n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.inUse -= n
	if b.byKey[key] -= n; b.byKey[key] == 0 {
		delete(b.byKey, key)
	}
	b.grantWaiting()
}

// InUse returns how many bytes are reserved.
func (b *Bytes[K]) InUse() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.inUse
}

func (b *Bytes[K]) addRequest(r *bytesRequest[K]) *list.Element {
	b.mu.Lock()
	defer b.mu.Unlock()
	place := b.queue.PushBack(r)
	b.grantWaiting()
	return place
}

// grantWaiting grants requests in their order until one does not fit into the total. mu is held.
func (b *Bytes[K]) grantWaiting() {
	if b.byKey == nil {
		b.byKey = map[K]int{}
	}
	for place := b.queue.Front(); place != nil; {
		r, _ := place.Value.(*bytesRequest[K]) // nothing else is in the list
		next := place.Next()
		switch {
		case b.byKey[r.key] > 0 && b.byKey[r.key]+r.n > b.PerKey:
		case b.inUse > 0 && b.inUse+r.n > b.Total:
			return
		default:
			b.inUse += r.n
			b.byKey[r.key] += r.n
			b.queue.Remove(place)
			close(r.granted)
		}
		place = next
	}
}
