package connectors_test

import (
	"testing"
	"time"

	"patchbay/internal/connectors"
)

func TestQuantile_IsWithinTenPercent(t *testing.T) {
	t.Parallel()
	for _, typical := range []time.Duration{300 * time.Microsecond, 17 * time.Millisecond, 900 * time.Millisecond, 20 * time.Second} {
		var l connectors.Latencies
		for i := range 1000 { // evenly from 0.5 to 1.5 times the value
			l[connectors.LatencyBucket(typical/2+typical*time.Duration(i)/1000)]++
		}
		for share, want := range map[float64]float64{0.5: 1, 0.95: 1.45} {
			got := float64(l.Quantile(share)) / float64(typical)
			if got < 0.9*want || got > 1.1*want {
				t.Errorf("the %v of calls around %s is %v of it, want %v", share, typical, got, want)
			}
		}
	}
}

func TestLatencyBucket_Extremes(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]int{
		0: 0, 125 * time.Microsecond: 0, 126 * time.Microsecond: 1, 250 * time.Microsecond: 4, time.Hour: connectors.LatencyBuckets - 1,
	} {
		if got := connectors.LatencyBucket(d); got != want {
			t.Errorf("%s is in bucket %d, want %d", d, got, want)
		}
	}
	var none connectors.Latencies
	if q := none.Quantile(0.95); q != 0 {
		t.Errorf("of no calls: %s", q)
	}
}
