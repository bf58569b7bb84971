package gateway

import (
	"runtime/metrics"
	"testing"
)

func TestWhatManyListenersLeaveBehindIsCollected(t *testing.T) {
	t.Parallel()
	var l leftovers
	for range mostLeftovers - 1 {
		l.add()
	}
	before := forcedCollections()
	l.add()
	if after := forcedCollections(); after == before && liveHeap() < smallHeap {
		t.Errorf("%d listeners came, and nothing was collected", mostLeftovers)
	}
}

func forcedCollections() uint64 {
	sample := []metrics.Sample{{Name: "/gc/cycles/forced:gc-cycles"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}
