package middleware

import (
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// mostMeters bounds a throttle's memory. Those that are full again are forgotten first.
const mostMeters = 100_000

// Throttle bounds how often something is asked for, for each who asks, in this process.
type Throttle[K comparable] struct {
	perSecond float64
	atOnce    int

	mu     sync.Mutex
	meters map[K]*rate.Limiter // guarded by mu
}

// NewThrottle makes one that gives each so many a second, and so many at once after a pause. perSecond 0: there is no limit.
func NewThrottle[K comparable](perSecond float64, atOnce int) *Throttle[K] {
	return &Throttle[K]{perSecond: perSecond, atOnce: atOnce, meters: map[K]*rate.Limiter{}}
}

// Take takes one of who, or tells after how long there is one; undo gives it back.
func (t *Throttle[K]) Take(who K, now time.Time) (wait time.Duration, undo func()) {
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
func (t *Throttle[K]) meter(who K, now time.Time) *rate.Limiter {
	if m := t.meters[who]; m != nil {
		return m
	}
	if len(t.meters) >= mostMeters {
		t.makeRoom(now)
	}
	m := rate.NewLimiter(rate.Limit(t.perSecond), t.atOnce)
	t.meters[who] = m
	return m
}

// makeRoom forgets those who have saved up all that they may, who are as if they had never asked; and, where that is not enough, whoever
// it happens to be. mu is held.
func (t *Throttle[K]) makeRoom(now time.Time) {
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
