package connectors

import (
	"math"
	"time"
)

// The buckets of latencies are four to a doubling, from fastest on: what is read from them is at most a tenth off.
const (
	fastest     = 125 * time.Microsecond // the upper end of the first
	perDoubling = 4
	// LatencyBuckets is how many there are. The last takes everything from 109 s.
	LatencyBuckets = 81
)

// Latencies counts calls by how long the server took: each bucket has its own.
type Latencies [LatencyBuckets]int

// LatencyBucket is where a latency counts, as latency_bucket of the database has it.
func LatencyBucket(d time.Duration) int {
	us := max(1, d.Microseconds())
	return min(LatencyBuckets-1, max(0, int(math.Ceil(perDoubling*math.Log2(float64(us)/float64(fastest.Microseconds()))))))
}

// Add takes others in.
func (l *Latencies) Add(others *Latencies) {
	for i, n := range others {
		l[i] += n
	}
}

// Count is how many calls there are.
func (l *Latencies) Count() int {
	n := 0
	for _, in := range l {
		n += in
	}
	return n
}

// Quantile is the latency that the given share of calls did not exceed, from 0 to 1; 0 without any. Inside a bucket the calls are taken to
// be spread evenly, on the buckets' scale.
func (l *Latencies) Quantile(share float64) time.Duration {
	rank := share * float64(l.Count())
	if rank <= 0 {
		return 0
	}
	below := 0.0
	for i, n := range l {
		if n > 0 && below+float64(n) >= rank {
			part := (rank - below) / float64(n)
			return time.Duration(float64(fastest) * math.Exp2((float64(i)-1+part)/perDoubling))
		}
		below += float64(n)
	}
	return 0
}
