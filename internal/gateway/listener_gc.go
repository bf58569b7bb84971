package gateway

import (
	"runtime"
	"runtime/metrics"
	"sync/atomic"
)

// gcTrigger runs the garbage collector after many new listeners. Each start leaves request buffers and a grown
// stack behind. GOGC is tuned for calls, so a process with listeners only would keep that memory.
type gcTrigger struct{ listeners atomic.Int64 }

const (
	listenersPerGC = 200      // about 4 MiB of garbage
	maxHeapForGC   = 64 << 20 // bytes; in a larger heap a collection costs more than it frees
)

// addListener counts a new listener. The zero value is ready to use.
func (l *gcTrigger) addListener() {
	if l.listeners.Add(1)%listenersPerGC == 0 && liveHeap() < maxHeapForGC {
		runtime.GC()
	}
}

// liveHeap returns the bytes that survived the last collection.
func liveHeap() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(sample)
	if sample[0].Value.Kind() != metrics.KindUint64 {
		return maxHeapForGC // unknown
	}
	return sample[0].Value.Uint64()
}
