package api

import (
	"net/http"
	"time"

	"github.com/google/uuid"

	"patchbay/internal/auth"
	"patchbay/internal/middleware"
)

// Rates are how many requests a second may be made, in this process. Each may be saved up for [savedUp]; 0: there is no limit.
type Rates struct {
	PerCaller int // of an API key, or of a person's session
	PerTenant int // of all who belong to a tenant
}

// savedUp is how many seconds' worth of requests may come at once after a pause.
const savedUp = 4

func newThrottle(perSecond int) *middleware.Throttle[uuid.UUID] {
	return middleware.NewThrottle[uuid.UUID](float64(perSecond), savedUp*perSecond)
}

// throttled turns away who asks too often. What is refused counts for nobody.
func (h *Handler) throttled(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if who, ok := auth.ActorFrom(r.Context()); ok {
			if err := h.askedTooOften(who); err != nil {
				h.respond.Problem(w, r, err)
				return
			}
		}
		next.ServeHTTP(w, r)
	})
}

func (h *Handler) askedTooOften(who auth.Actor) error {
	now, undo := h.now(), func() {}
	if id := who.ID(); id != nil {
		var wait time.Duration
		if wait, undo = h.callers.Take(*id, now); wait > 0 {
			h.refused("caller")
			return middleware.TooSoon(wait, "You make more than %d requests a second. Wait as long as Retry-After says.", h.rates.PerCaller)
		}
	}
	if wait, _ := h.tenants.Take(who.Tenant.ID.UUID, now); wait > 0 {
		undo()
		h.refused("tenant")
		return middleware.TooSoon(wait, "All programs of your tenant together make more than %d requests a second. Wait as long as Retry-After says.", h.rates.PerTenant)
	}
	return nil
}
