package api

import (
	"math"
	"net/http"
	"sync"
	"time"

	"github.com/google/uuid"
	"golang.org/x/time/rate"

	"patchbay/internal/auth"
	"patchbay/internal/fault"
)

// Rates are how many requests a second may be made, in this process. Each may be saved up for [savedUp]; 0: there is no limit.
type Rates struct {
	PerCaller int // of an API key, or of a person's session
	PerTenant int // of all who belong to a tenant
}

const (
	// savedUp is how many seconds' worth of requests may come at once after a pause.
	savedUp = 4
	// mostMeters bounds a throttle's memory. Those that are full again are forgotten first.
	mostMeters = 100_000
)

// throttle bounds how often something is asked for, for each who asks.
type throttle struct {
	perSecond int

	mu     sync.Mutex
	meters map[uuid.UUID]*rate.Limiter // guarded by mu
}

func newThrottle(perSecond int) *throttle {
	return &throttle{perSecond: perSecond, meters: map[uuid.UUID]*rate.Limiter{}}
}

// take takes a request of who, or tells after how long there is one; undo gives it back.
func (t *throttle) take(who uuid.UUID, now time.Time) (wait time.Duration, undo func()) {
	if t.perSecond <= 0 {
		return 0, func() {}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	taken := t.meter(who, now).ReserveN(now, 1)
	undo = func() { taken.CancelAt(now) }
	if wait = taken.DelayFrom(now); wait > 0 {
		undo()
	}
	return wait, undo
}

// meter finds or makes one. mu is held.
func (t *throttle) meter(who uuid.UUID, now time.Time) *rate.Limiter {
	if m := t.meters[who]; m != nil {
		return m
	}
	if len(t.meters) >= mostMeters {
		t.makeRoom(now)
	}
	m := rate.NewLimiter(rate.Limit(t.perSecond), savedUp*t.perSecond)
	t.meters[who] = m
	return m
}

// makeRoom forgets those who have saved up all that they may, who are as if they had never asked; and, where that is not enough, whoever
// it happens to be. mu is held.
func (t *throttle) makeRoom(now time.Time) {
	for who, m := range t.meters {
		if m.TokensAt(now) >= float64(m.Burst()) {
			delete(t.meters, who)
		}
	}
	for who := range t.meters {
		if len(t.meters) < mostMeters {
			return
		}
		delete(t.meters, who)
	}
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
		if wait, undo = h.callers.take(*id, now); wait > 0 {
			h.refused("caller")
			return tooOften(wait, "You make more than %d requests a second. Wait as long as Retry-After says.", h.callers.perSecond)
		}
	}
	if wait, _ := h.tenants.take(who.Tenant.ID.UUID, now); wait > 0 {
		undo()
		h.refused("tenant")
		return tooOften(wait, "All programs of your tenant together make more than %d requests a second. Wait as long as Retry-After says.", h.tenants.perSecond)
	}
	return nil
}

func tooOften(wait time.Duration, sentence string, perSecond int) error {
	err := fault.Errorf(fault.RateLimited, sentence, perSecond)
	err.RetryAfter = int(math.Ceil(wait.Seconds()))
	return err
}
