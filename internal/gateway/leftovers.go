package gateway

import (
	"runtime"
	"runtime/metrics"
	"sync/atomic"
)

// leftovers is what listeners leave behind when they begin: a request, the HTTP server's buffers and a stack that grew are more than they
// keep. The program collects garbage seldom, as suits calls, and a process whose agents only listen would not do it for long.
type leftovers struct{ of atomic.Int64 }

const (
	mostLeftovers = 200      // listeners whose leftovers may lie around: some 4 MiB
	smallHeap     = 64 << 20 // bytes that live; in a larger one they find room, and a collection costs more than they are worth
)

// add counts a listener, and collects where there were enough. The zero value works.
func (l *leftovers) add() {
	if l.of.Add(1)%mostLeftovers == 0 && liveHeap() < smallHeap {
		runtime.GC()
	}
}

// liveHeap is what the last collection has left, in bytes.
func liveHeap() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(sample)
	if sample[0].Value.Kind() != metrics.KindUint64 {
		return smallHeap // nobody knows
	}
	return sample[0].Value.Uint64()
}
