package gateway

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"net/netip"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/limit"
	"patchbay/internal/mcp/serve"
	"patchbay/internal/middleware"
	"patchbay/internal/toolcall"
)

// requestLimiter limits requests per agent, and per tenant and address, in this process. Tool calls have their
// own distributed limits. This one covers the rest: lists, pings, subscriptions and invalid requests.
type requestLimiter struct {
	perSecond float64 // per agent; 0: unlimited
	buckets   limit.Shares[limiterKey]
}

func newRequestLimiter(perSecond float64) requestLimiter {
	return requestLimiter{perSecond: perSecond, buckets: limit.Shares[limiterKey]{BurstSeconds: burstSeconds}}
}

// limiterKey identifies a bucket: of an agent, of a tenant at an address, or of a tenant.
type limiterKey struct {
	tenant        connectors.TenantID
	agent         connectors.AgentID
	address       netip.Addr
	isTenantTotal bool
}

const (
	burstSeconds = 4 // bucket capacity in seconds of the rate
	addressShare = 8 // multiple of the agent rate per tenant and address, and per agent with a high call limit
	tenantShare  = 16
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
	shares := append(make([]limit.Share[limiterKey], 0, 3),
		limit.Share[limiterKey]{Key: limiterKey{tenant: tenant, isTenantTotal: true}, PerSecond: tenantShare * p.perSecond})
	ofAgent := limiterKey{tenant: tenant, agent: a.ID}
	if calls := min(2*float64(a.CallsPerMinute)/60, addressShare*p.perSecond); calls > p.perSecond {
		shares = append(shares, limit.Share[limiterKey]{Key: ofAgent, PerSecond: calls})
	} else {
		ofAddress := limiterKey{tenant: tenant, address: middleware.ClientNetwork(address)}
		shares = append(shares, limit.Share[limiterKey]{Key: ofAddress, PerSecond: addressShare * p.perSecond},
			limit.Share[limiterKey]{Key: ofAgent, PerSecond: p.perSecond})
	}
	return p.buckets.Take(now, minTokens, count, shares...)
}

// writeRateLimited refuses a request before its body is read.
func (h *Handler) writeRateLimited(w http.ResponseWriter, r *http.Request, wait time.Duration) {
	h.server.Reject(w, r, h.newRateLimitError(w.Header(), wait))
}

var _ serve.MessageLimiter = (*backend)(nil)

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
	why, _ := json.Marshal(map[string]toolcall.Reason{reasonMember: {Code: toolcall.CodeRateLimited, RetryAfter: seconds}}) // it always marshals
	header.Set("Retry-After", fmt.Sprint(seconds))
	return &serve.RPCError{
		Code: codeRefused, Status: http.StatusTooManyRequests, Data: why,
		Message: fmt.Sprintf("Too many requests from this agent. Try again in %d s.", seconds),
	}
}
