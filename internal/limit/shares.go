package limit

import (
	"math"
	"sync"
	"time"
)

// Shares are token buckets from which an operation takes at once: from all of its buckets, or from none. Each
// bucket has a rate of its own, which may change. A full bucket holds BurstSeconds of its rate.
type Shares[K comparable] struct {
	BurstSeconds float64

	mu      sync.Mutex
	buckets map[K]*shareBucket // guarded by mu; at most maxBuckets
}

// Share names a bucket of an operation.
type Share[K comparable] struct {
	Key       K
	PerSecond float64 // above 0
}

// shareBucket holds the tokens that can be taken at once. They are negative after an overdraft.
type shareBucket struct {
	perSecond float64
	tokens    float64
	updatedAt time.Time
}

// Take takes n tokens from each share if each has at least enough tokens, or returns the longest wait. With enough
// below n it may overdraw buckets.
func (s *Shares[K]) Take(now time.Time, enough float64, n int, shares ...Share[K]) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	var wait time.Duration
	buckets := make([]*shareBucket, 0, 4)
	for _, share := range shares {
		b := s.refillBucket(share, now)
		buckets = append(buckets, b)
		if b.tokens < enough {
			wait = max(wait, time.Duration(math.Ceil((1-b.tokens)/b.perSecond*float64(time.Second))))
		}
	}
	if wait > 0 {
		return wait
	}
	for _, b := range buckets {
		b.tokens -= float64(n)
	}
	return 0
}

// Len returns the number of buckets.
func (s *Shares[K]) Len() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.buckets)
}

// refillBucket returns a bucket filled up to now. mu is held.
func (s *Shares[K]) refillBucket(share Share[K], now time.Time) *shareBucket {
	b := s.buckets[share.Key]
	if b == nil {
		s.evictBuckets(now)
		b = &shareBucket{perSecond: share.PerSecond, tokens: s.BurstSeconds * share.PerSecond, updatedAt: now}
		s.buckets[share.Key] = b
		return b
	}
	b.perSecond = share.PerSecond
	b.tokens = s.countTokens(b, now)
	if now.After(b.updatedAt) {
		b.updatedAt = now
	}
	return b
}

func (s *Shares[K]) countTokens(b *shareBucket, now time.Time) float64 {
	return min(s.BurstSeconds*b.perSecond, b.tokens+max(0, now.Sub(b.updatedAt).Seconds())*b.perSecond)
}

// evictBuckets makes room for a bucket: it drops full buckets, which equal new ones, then arbitrary ones. mu is held.
func (s *Shares[K]) evictBuckets(now time.Time) {
	if s.buckets == nil {
		s.buckets = map[K]*shareBucket{}
	}
	if len(s.buckets) < maxBuckets {
		return
	}
	for key, b := range s.buckets {
		if s.countTokens(b, now) >= s.BurstSeconds*b.perSecond {
			delete(s.buckets, key)
		}
	}
	for key := range s.buckets {
		if len(s.buckets) < maxBuckets {
			return
		}
		delete(s.buckets, key)
	}
}
