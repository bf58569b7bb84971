package connectors

import (
	"math"
	"time"
)

// Latency buckets: four per doubling, so that a quantile is at most a tenth off.
const (
	firstBucketEnd = 125 * time.Microsecond // upper bound of the first
	perDoubling    = 4
	// LatencyBuckets is the number of buckets. The last has everything from 109 s.
	LatencyBuckets = 81
)

// Latencies counts calls per bucket of the server's latency.
type Latencies [LatencyBuckets]int

// LatencyBucket returns the bucket of a latency, as latency_bucket in the database.
func LatencyBucket(d time.Duration) int {
	us := max(1, d.Microseconds())
	return min(LatencyBuckets-1, max(0, int(math.Ceil(perDoubling*math.Log2(float64(us)/float64(firstBucketEnd.Microseconds()))))))
}

// Add adds the counts of others.
func (l *Latencies) Add(others *Latencies) {
	for i, n := range others {
		l[i] += n
	}
}

// Count returns the number of calls.
func (l *Latencies) Count() int {
	n := 0
	for _, in := range l {
		n += in
	}
	return n
}

// Quantile returns the latency that a share (0 to 1) of the calls did not exceed; 0 without calls. It
// interpolates within a bucket on the buckets' scale.
func (l *Latencies) Quantile(share float64) time.Duration {
	rank := share * float64(l.Count())
	if rank <= 0 {
		return 0
	}
	below := 0.0
	for i, n := range l {
		if n > 0 && below+float64(n) >= rank {
			part := (rank - below) / float64(n)
			return time.Duration(float64(firstBucketEnd) * math.Exp2((float64(i)-1+part)/perDoubling))
		}
		below += float64(n)
	}
	return 0
}
