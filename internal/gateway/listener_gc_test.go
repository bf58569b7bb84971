package gateway

import (
	"runtime/metrics"
	"testing"
)

func TestListenerGC_CollectsAfterManyListeners(t *testing.T) {
	t.Parallel()
	var l gcTrigger
	for range listenersPerGC - 1 {
		l.addListener()
	}
	before := forcedCollections()
	l.addListener()
	if after := forcedCollections(); after == before && liveHeap() < maxHeapForGC {
		t.Errorf("%d listeners came, and nothing was collected", listenersPerGC)
	}
}

func forcedCollections() uint64 {
	sample := []metrics.Sample{{Name: "/gc/cycles/forced:gc-cycles"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}
