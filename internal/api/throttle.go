package api

import (
	"net/http"
	"time"

	"github.com/google/uuid"

	"patchbay/internal/auth"
	"patchbay/internal/limit"
	"patchbay/internal/middleware"
)

// Rates are limits in requests per second, for this process. Each has a burst of [burstSeconds]; 0: no limit.
type Rates struct {
	PerCaller int // of an API key or person
	PerTenant int // of all callers in a tenant
}

// burstSeconds is the burst after a pause, in seconds' worth of requests.
const burstSeconds = 4

func newThrottle(perSecond int) *limit.Rate[uuid.UUID] {
	return limit.NewRate[uuid.UUID](float64(perSecond), burstSeconds*perSecond)
}

// limitRate refuses requests beyond the rate limits. A refused request consumes nothing.
func (h *Handler) limitRate(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if actor, ok := auth.ActorFrom(r.Context()); ok {
			if err := h.takeFromLimits(actor); err != nil {
				h.respond.Problem(w, r, err)
				return
			}
		}
		next.ServeHTTP(w, r)
	})
}

func (h *Handler) takeFromLimits(actor auth.Actor) error {
	now, undo := h.now(), func() {}
	if id := actor.ID(); id != nil {
		var wait time.Duration
		if wait, undo = h.callers.Take(*id, now); wait > 0 {
			h.refused("caller")
			return middleware.NewRateLimitError(wait, "More than %d requests a second. Retry after the time in Retry-After.", h.rates.PerCaller)
		}
	}
	if wait, _ := h.tenants.Take(actor.Tenant.ID.UUID, now); wait > 0 {
		undo()
		h.refused("tenant")
		return middleware.NewRateLimitError(wait, "More than %d requests a second from all programs of your tenant. Retry after the time in Retry-After.", h.rates.PerTenant)
	}
	return nil
}
