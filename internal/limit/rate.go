package limit

import (
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// maxBuckets bounds a Rate's memory. Full buckets are dropped first: a key without a bucket has a full one.
const maxBuckets = 100_000

// Rate bounds how often something happens, for each key, by token buckets.
type Rate[K comparable] struct {
	perSecond rate.Limit
	burst     int

	mu      sync.Mutex
	buckets map[K]*rate.Limiter // guarded by mu
}

// NewRate returns a Rate that gives each key perSecond tokens a second, and holds at most burst of them. perSecond 0: there is no bound.
func NewRate[K comparable](perSecond float64, burst int) *Rate[K] {
	return &Rate[K]{perSecond: rate.Limit(perSecond), burst: burst, buckets: map[K]*rate.Limiter{}}
}

// Take takes a token, or returns after how long there is one. undo puts the token back.
func (r *Rate[K]) Take(key K, now time.Time) (wait time.Duration, undo func()) {
	if r.perSecond <= 0 {
		return 0, func() {}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	taken := r.findBucket(key, now).ReserveN(now, 1)
	undo = func() { taken.CancelAt(now) }
	if wait = taken.DelayFrom(now); wait > 0 {
		undo()
	}
	return wait, undo
}

// Charge takes a token also where there is none: the key then waits for longer. It is for what costs a token only when it is over: those that
// began at the same moment are all counted.
func (r *Rate[K]) Charge(key K, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.findBucket(key, now).ReserveN(now, 1)
}

// Wait is after how long the key has a token. It takes none.
func (r *Rate[K]) Wait(key K, now time.Time) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	b := r.buckets[key]
	if b == nil {
		return 0
	}
	missing := 1 - b.TokensAt(now)
	if missing <= 0 {
		return 0
	}
	return time.Duration(missing / float64(r.perSecond) * float64(time.Second))
}

// findBucket finds or makes the bucket of a key. mu is held.
func (r *Rate[K]) findBucket(key K, now time.Time) *rate.Limiter {
	if b := r.buckets[key]; b != nil {
		return b
	}
	if len(r.buckets) >= maxBuckets {
		r.evictBuckets(now)
	}
	b := rate.NewLimiter(r.perSecond, r.burst)
	r.buckets[key] = b
	return b
}

// evictBuckets drops full buckets and, where that is not enough, arbitrary ones. mu is held.
func (r *Rate[K]) evictBuckets(now time.Time) {
	for key, b := range r.buckets {
		if b.TokensAt(now) >= float64(r.burst) {
			delete(r.buckets, key)
		}
	}
	for key := range r.buckets {
		if len(r.buckets) < maxBuckets {
			return
		}
		delete(r.buckets, key)
	}
}
