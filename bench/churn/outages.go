package churn

import (
	"math"
	"sync/atomic"
	"time"
)

// Outages records when faults are injected. Requests may fail until the system has recovered. The zero value
// has none.
type Outages struct {
	ended atomic.Int64 // end of the last outage in Unix nanoseconds; math.MaxInt64: it has not ended
}

// Begin records the start of an outage. Call it before the fault is injected.
func (o *Outages) Begin() { o.ended.Store(math.MaxInt64) }

// End records that the outage ends at a time. Begin annuls it.
func (o *Outages) End(at time.Time) { o.ended.Store(at.UnixNano()) }

// isHealthy reports whether no outage was under way at any time since start.
func (o *Outages) isHealthy(start time.Time) bool {
	return o == nil || start.UnixNano() > o.ended.Load()
}
