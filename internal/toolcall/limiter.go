package toolcall

import (
	"fmt"
	"sync"
	"time"

	"patchbay/internal/agentview"
	"patchbay/internal/connectors"
)

// maxBuckets bounds a limiter's memory. Full buckets are dropped first.
const maxBuckets = 100_000

// limiter holds a token bucket for each key, shared with other processes (limit_peers.go). The zero value
// works, for one process.
type limiter[K comparable] struct {
	mu      sync.Mutex
	buckets map[K]*bucket // guarded by mu

	otherInstances int            // other processes. mu guards this and the fields below
	round          int            // number of published rounds
	taken          map[K]tokenUse // since the last round; empty without peers
}

// bucket refills at perMinute tokens a minute, and holds as many: after a pause all of them can be taken at
// once.
type bucket struct {
	tokens     float64 // negative: other processes took more
	updatedAt  time.Time
	remoteOnly bool // only other processes have used it: its size is not known yet

	round int     // to which share belongs
	share float64 // tokens that this process may still take in the round
}

// takeToken takes a token, or returns the wait for one. perMinute 0: no limit.
func (l *limiter[K]) takeToken(tenant connectors.TenantID, key K, perMinute int, now time.Time) (wait time.Duration) {
	if perMinute <= 0 {
		return 0
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	b := l.findBucket(key, perMinute, now)
	interval := time.Minute / time.Duration(perMinute)
	b.tokens = min(float64(perMinute), b.tokens+float64(now.Sub(b.updatedAt))/float64(interval))
	b.updatedAt = now
	if b.tokens < 1 {
		return time.Duration((1 - b.tokens) * float64(interval))
	}
	if l.otherInstances > 0 && !l.takeReserved(tenant, key, b) {
		return usePublishInterval
	}
	b.tokens--
	return 0
}

// tokensLeft is the number of tokens in key's bucket.
func (l *limiter[K]) tokensLeft(key K, perMinute int, now time.Time) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	b := l.buckets[key]
	if b == nil || perMinute == 0 {
		return perMinute
	}
	tokens := b.tokens + now.Sub(b.updatedAt).Minutes()*float64(perMinute)
	if b.remoteOnly {
		tokens += float64(perMinute)
	}
	return int(max(0, min(float64(perMinute), tokens)))
}

// findBucket finds or adds a bucket. The caller holds mu.
func (l *limiter[K]) findBucket(key K, perMinute int, now time.Time) *bucket {
	b := l.buckets[key]
	if b == nil {
		b = &bucket{tokens: float64(perMinute), updatedAt: now}
		l.addBucket(key, b, now)
	}
	if b.remoteOnly {
		b.remoteOnly, b.tokens = false, b.tokens+float64(perMinute)
	}
	return b
}

// addBucket adds a bucket. The caller holds mu.
func (l *limiter[K]) addBucket(key K, b *bucket, now time.Time) {
	b.round = l.round - 1
	if l.buckets == nil {
		l.buckets = map[K]*bucket{}
	}
	if len(l.buckets) >= maxBuckets {
		for k, b := range l.buckets {
			if now.Sub(b.updatedAt) > time.Minute {
				delete(l.buckets, k)
			}
		}
	}
	l.buckets[key] = b
}

// maxCallsInFlight bounds an agent's calls in this process. Each holds arguments, a result and a connection.
const maxCallsInFlight = 1000

// slotOwner is the key of a request's slot: its agent or, without one, the tenant.
func slotOwner(v *agentview.View) connectors.AgentID {
	if v.Agent.ID == (connectors.AgentID{}) {
		return connectors.AgentID{UUID: v.Tenant.ID.UUID}
	}
	return v.Agent.ID
}

// AcquireCall counts a call of the agent that needs no upstream as one in flight, until release. Too many are a
// *RefusalError.
func (c *Executor) AcquireCall(v *agentview.View) (release func(), err error) {
	owner := slotOwner(v)
	if !c.limits.inFlight.TryAcquire(owner) {
		return nil, tooManyCallsRefusal()
	}
	return func() { c.limits.inFlight.Release(owner) }, nil
}

func tooManyCallsRefusal() *RefusalError {
	return &RefusalError{Code: CodeRateLimited, RetryAfter: time.Second, Sentence: fmt.Sprintf(
		"This agent has %d running calls. Wait until some end.", maxCallsInFlight)}
}
