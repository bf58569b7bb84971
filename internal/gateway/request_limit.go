package gateway

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/mcp/serve"
	"patchbay/internal/middleware"
	"patchbay/internal/toolcall"
)

// requestLimiter limits requests per agent, and per tenant and address, in this process. Tool calls have their
// own distributed limits. This one covers the rest: lists, pings, subscriptions and invalid requests.
type requestLimiter struct {
	perSecond float64 // per agent; 0: unlimited

	mu      sync.Mutex
	buckets map[limiterKey]*tokenBucket // guarded by mu
}

// limiterKey identifies a bucket: of an agent, of a tenant at an address, or of a tenant.
type limiterKey struct {
	tenant        connectors.TenantID
	agent         connectors.AgentID
	address       netip.Addr
	isTenantTotal bool
}

// tokenBucket holds the requests that may be made at once. A batch may make it negative.
type tokenBucket struct {
	perSecond float64
	tokens    float64
	updatedAt time.Time
}

const (
	burstSeconds = 4 // bucket capacity in seconds of the rate
	addressShare = 8 // multiple of the agent rate per tenant and address, and per agent with a high call limit
	tenantShare  = 16
	maxBuckets   = 100_000
)

// takeRequest counts a request and returns 0, or returns how long to wait. An agent with a higher call limit
// gets twice that rate, up to addressShare, from its own and the tenant's buckets only. The tenant's total is
// the operator's and cannot be raised by admins.
func (p *requestLimiter) takeRequest(tenant connectors.TenantID, a *connectors.Agent, address netip.Addr, now time.Time) time.Duration {
	return p.takeTokens(tenant, a, address, now, 1, 1)
}

// chargeMessages counts more messages of an accepted request, or returns how long to wait. A balance of zero or more
// allows a batch, which may overdraw the bucket; otherwise few long batches could be sent.
func (p *requestLimiter) chargeMessages(tenant connectors.TenantID, a *connectors.Agent, address netip.Addr, now time.Time, more int) time.Duration {
	return p.takeTokens(tenant, a, address, now, 0, more)
}

// takeTokens takes count tokens from all buckets if each has minTokens; else it returns the wait.
func (p *requestLimiter) takeTokens(tenant connectors.TenantID, a *connectors.Agent, address netip.Addr, now time.Time, minTokens float64, count int) time.Duration {
	if p.perSecond <= 0 {
		return 0
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	buckets := append(make([]*tokenBucket, 0, 3), p.refillBucket(limiterKey{tenant: tenant, isTenantTotal: true}, tenantShare*p.perSecond, now))
	if calls := min(2*float64(a.CallsPerMinute)/60, addressShare*p.perSecond); calls > p.perSecond {
		buckets = append(buckets, p.refillBucket(limiterKey{tenant: tenant, agent: a.ID}, calls, now))
	} else {
		buckets = append(buckets, p.refillBucket(limiterKey{tenant: tenant, address: middleware.ClientNetwork(address)}, addressShare*p.perSecond, now),
			p.refillBucket(limiterKey{tenant: tenant, agent: a.ID}, p.perSecond, now))
	}
	var wait time.Duration
	for _, bucket := range buckets {
		wait = max(wait, bucket.waitFor(minTokens))
	}
	if wait > 0 {
		return wait
	}
	for _, bucket := range buckets {
		bucket.tokens -= float64(count)
	}
	return 0
}

// refillBucket returns a bucket filled up to now. mu is held.
func (p *requestLimiter) refillBucket(key limiterKey, perSecond float64, now time.Time) *tokenBucket {
	capacity := burstSeconds * perSecond
	bucket := p.buckets[key]
	if bucket == nil {
		p.evictBuckets(now)
		bucket = &tokenBucket{perSecond: perSecond, tokens: capacity, updatedAt: now}
		p.buckets[key] = bucket
		return bucket
	}
	bucket.perSecond, bucket.tokens, bucket.updatedAt = perSecond, bucket.tokensAt(now), laterTime(bucket.updatedAt, now)
	return bucket
}

func (b *tokenBucket) tokensAt(now time.Time) float64 {
	return min(burstSeconds*b.perSecond, b.tokens+max(0, now.Sub(b.updatedAt).Seconds())*b.perSecond)
}

func (b *tokenBucket) waitFor(minTokens float64) time.Duration {
	if b.tokens >= minTokens {
		return 0
	}
	return time.Duration(math.Ceil((1 - b.tokens) / b.perSecond * float64(time.Second)))
}

func laterTime(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// evictBuckets drops full buckets at the limit, then arbitrary ones. A full bucket equals a new one. mu is
// held.
func (p *requestLimiter) evictBuckets(now time.Time) {
	if p.buckets == nil {
		p.buckets = map[limiterKey]*tokenBucket{}
	}
	if len(p.buckets) < maxBuckets {
		return
	}
	for key, bucket := range p.buckets {
		if bucket.tokensAt(now) >= burstSeconds*bucket.perSecond {
			delete(p.buckets, key)
		}
	}
	for key := range p.buckets {
		if len(p.buckets) < maxBuckets {
			return
		}
		delete(p.buckets, key)
	}
}

// writeTooSoon refuses a request before its body is read.
func (h *Handler) writeTooSoon(w http.ResponseWriter, r *http.Request, wait time.Duration) {
	h.server.TurnAway(w, r, h.newRateLimitError(w.Header(), wait))
}

var _ serve.Meter = (*backend)(nil)

// Charge counts the messages of a batch after the first.
func (b *backend) Charge(header http.Header, more int) *serve.RPCError {
	if wait := b.h.limiter.chargeMessages(b.view.Tenant.ID, &b.view.Agent, b.origin.Address, b.h.now(), more); wait > 0 {
		return b.h.newRateLimitError(header, wait)
	}
	return nil
}

// newRateLimitError counts a refusal, sets Retry-After and returns the error with the same reason as for calls.
func (h *Handler) newRateLimitError(header http.Header, wait time.Duration) *serve.RPCError {
	if h.onThrottled != nil {
		h.onThrottled()
	}
	seconds := int(math.Ceil(wait.Seconds()))
	why, _ := json.Marshal(map[string]refusalReason{reasonMember: {Code: string(toolcall.CodeRateLimited), RetryAfter: seconds}}) // it always marshals
	header.Set("Retry-After", fmt.Sprint(seconds))
	return &serve.RPCError{
		Code: codeRefused, Status: http.StatusTooManyRequests, Data: why,
		Message: fmt.Sprintf("This agent makes more requests than it may. Try again in %d s.", seconds),
	}
}
