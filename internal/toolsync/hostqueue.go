package toolsync

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"time"

	"patchbay/internal/connectors"
)

// Bounds on waiting for a host slot. A claim waits while the queue moves, but not for ever. Then it is released
// and the connector is due again later, so that hung servers do not hold claims.
const (
	maxQueueStall = 2 * time.Second  // since the last release of a slot
	maxQueueWait  = 20 * time.Second // in total: when PostgreSQL is the bottleneck, postponing does not help
	minRetryAfter = 5 * time.Second
	maxRetryAfter = 5 * time.Minute // each postponement costs a few hundred bytes of WAL
)

// errHostBusy ends the wait for a host slot: the claim is to be released.
var errHostBusy = errors.New("the server is busy with other conversations")

// hostQueue holds the active and the waiting syncs of one server, named by scheme, host and port.
type hostQueue struct {
	active  int
	waiting []hostWaiter
	tenants map[connectors.TenantID]*tenantQueue
}

// tenantQueue is the share of one tenant in a hostQueue. Durations are kept by tenant, because another tenant's
// connectors may hang.
type tenantQueue struct {
	active       int
	waiting      int
	stalled      bool          // a wait timed out since the last release
	lastRelease  time.Time     // zero: none yet
	meanDuration time.Duration // moving average over sessions; 0: unknown
	lastRetry    time.Time     // due time given to the last postponed claim
}

type hostWaiter struct {
	granted chan struct{}
	tenant  *tenantQueue
}

func (h *hostQueue) queueFor(tenant connectors.TenantID) *tenantQueue {
	q := h.tenants[tenant]
	if q == nil {
		q = &tenantQueue{}
		h.tenants[tenant] = q
	}
	return q
}

func (h *hostQueue) hasSlot(q *tenantQueue) bool {
	return q.active < maxTenantHostSlots && h.active < maxHostSlots
}

// expectedWait estimates the wait of a claim that joins the queue now.
func (q *tenantQueue) expectedWait() time.Duration {
	return q.meanDuration * time.Duration(q.waiting+1) / maxTenantHostSlots
}

// popNext removes and returns the waiter to serve next: the first one of the tenant with the fewest active
// syncs; nil: none can be served.
func (h *hostQueue) popNext() *hostWaiter {
	first := -1
	for i, w := range h.waiting {
		if h.hasSlot(w.tenant) && (first < 0 || w.tenant.active < h.waiting[first].tenant.active) {
			first = i
		}
	}
	if first < 0 {
		return nil
	}
	w := h.waiting[first]
	h.removeWaiter(first)
	return &w
}

func (h *hostQueue) removeWaiter(i int) {
	h.waiting[i].tenant.waiting--
	h.waiting = slices.Delete(h.waiting, i, i+1)
}

// waiterIndex returns the position in the queue; -1: not queued.
func (h *hostQueue) waiterIndex(granted chan struct{}) int {
	return slices.IndexFunc(h.waiting, func(w hostWaiter) bool { return w.granted == granted })
}

// nextRetryAfter returns the delay of a claim that is postponed, each a little longer than the one before.
// expectedDuration is the duration of a session where no mean is known.
func (q *tenantQueue) nextRetryAfter(now time.Time, expectedDuration time.Duration) time.Duration {
	if q.meanDuration > 0 && !q.stalled {
		expectedDuration = q.meanDuration
	}
	if earliest := now.Add(minRetryAfter + q.expectedWait()); q.lastRetry.Before(earliest) {
		q.lastRetry = earliest
	}
	q.lastRetry = q.lastRetry.Add(expectedDuration / maxTenantHostSlots)
	if wait := q.lastRetry.Sub(now); wait < maxRetryAfter {
		return wait
	}
	q.lastRetry = now.Add(maxRetryAfter)
	return maxRetryAfter/2 + rand.N(maxRetryAfter/2)
}

// recordDuration adds a session to the moving average.
func (q *tenantQueue) recordDuration(took time.Duration) {
	if q.meanDuration == 0 {
		q.meanDuration = took
		return
	}
	q.meanDuration += (took - q.meanDuration) / 8
}

// hostSlot is one sync's slot at its host, or its position in the host's queue.
type hostSlot struct {
	*slotPool
	hostKey          string
	tenant           *tenantQueue
	expectedDuration time.Duration
	granted          chan struct{} // closed when the host slot is granted; nil: held from the start
	startedAt        time.Time     // start of the session
	yieldTimer       *time.Timer   // gives up the pool slot of a slow session
	hasPoolSlot      bool          // the timer was stopped in time
}

// requestHostSlot takes a host slot for the owner of a pool slot, or joins the host's queue, which gives the
// pool slot back. When the queue is too long it returns nil, drops the claim and says when to retry.
func (p *slotPool) requestHostSlot(hostKey string, tenant connectors.TenantID, expectedDuration time.Duration) (s *hostSlot, retryAfter time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	h := p.hosts[hostKey]
	if h == nil {
		h = &hostQueue{tenants: map[connectors.TenantID]*tenantQueue{}}
		p.hosts[hostKey] = h
	}
	s = &hostSlot{slotPool: p, hostKey: hostKey, tenant: h.queueFor(tenant), expectedDuration: expectedDuration}
	if h.hasSlot(s.tenant) {
		h.active++
		s.tenant.active++
		return s, 0
	}
	p.releaseSlotLocked()
	if s.tenant.stalled || s.tenant.expectedWait() > maxQueueStall {
		p.claims--
		return nil, s.tenant.nextRetryAfter(time.Now(), expectedDuration)
	}
	s.granted = make(chan struct{})
	s.tenant.waiting++
	h.waiting = append(h.waiting, hostWaiter{s.granted, s.tenant})
	return s, 0
}

// wait blocks until the sync has its host slot and a pool slot; release gives back both. An error drops the
// claim. With [errHostBusy] the claim is to be released for retryAfter.
func (s *hostSlot) wait(ctx context.Context) (retryAfter time.Duration, err error) {
	if s.granted != nil {
		if retryAfter, err = s.waitForHost(ctx); err != nil {
			return retryAfter, err
		}
		if place := s.requestSlot(); place != nil {
			select {
			case <-place:
			case <-ctx.Done():
				s.cancelPoolWait(place)
				return 0, context.Cause(ctx)
			}
		}
	}
	s.startedAt = time.Now()
	s.yieldTimer = time.AfterFunc(slowSessionAfter, s.yieldSlot)
	return 0, nil
}

func (s *hostSlot) waitForHost(ctx context.Context) (retryAfter time.Duration, err error) {
	deadline := time.Now().Add(maxQueueWait)
	patience := time.NewTimer(maxQueueStall)
	defer patience.Stop()
	for {
		select {
		case <-s.granted:
			return 0, nil
		case <-patience.C:
			extension, retryAfter, err := s.extendOrGiveUp(deadline)
			if extension <= 0 {
				return retryAfter, err
			}
			patience.Reset(extension)
		case <-ctx.Done():
			s.cancel()
			return 0, context.Cause(ctx)
		}
	}
}

// extendOrGiveUp leaves the queue with errHostBusy, unless the slot was granted at the same moment (no error) or
// the queue moves: extension is then how much longer to wait.
func (s *hostSlot) extendOrGiveUp(deadline time.Time) (extension, retryAfter time.Duration, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	h, now := s.hosts[s.hostKey], time.Now()
	i := h.waiterIndex(s.granted)
	if i < 0 {
		return 0, 0, nil
	}
	if extension = min(s.tenant.lastRelease.Add(maxQueueStall).Sub(now), deadline.Sub(now)); extension > 0 {
		return extension, 0, nil
	}
	h.removeWaiter(i)
	s.tenant.stalled = s.tenant.lastRelease.Add(maxQueueStall).Before(now)
	s.claims--
	return 0, s.tenant.nextRetryAfter(now, s.expectedDuration), errHostBusy
}

// cancel leaves the queue or releases the slot. A slot granted at the same moment goes to the next waiter.
func (s *hostSlot) cancel() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.claims--
	if s.granted == nil {
		s.releaseSlotLocked()
	}
	h := s.hosts[s.hostKey]
	if i := h.waiterIndex(s.granted); i >= 0 {
		h.removeWaiter(i)
		return
	}
	s.releaseHostLocked()
}

// cancelPoolWait leaves the queue for a pool slot and releases the host slot.
func (s *hostSlot) cancelPoolWait(granted chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.claims--
	s.releaseHostLocked()
	if i := slices.Index(s.slotPool.waiting, granted); i >= 0 {
		s.slotPool.waiting = slices.Delete(s.slotPool.waiting, i, i+1)
		return
	}
	s.releaseSlotLocked()
}

// markIdle ends the session but keeps both slots: the response is in memory until it is stored.
func (s *hostSlot) markIdle() {
	s.hasPoolSlot = s.yieldTimer.Stop()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tenant.recordDuration(time.Since(s.startedAt))
}

// release gives back the host slot, and the pool slot if it was kept. Call it after markIdle.
func (s *hostSlot) release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.claims--
	s.releaseHostLocked()
	if s.hasPoolSlot {
		s.releaseSlotLocked()
	}
}

// releaseHostLocked passes the host slot to the next waiter. The caller holds mu.
func (s *hostSlot) releaseHostLocked() {
	h := s.hosts[s.hostKey]
	h.active--
	s.tenant.active--
	s.tenant.stalled, s.tenant.lastRelease = false, time.Now()
	if w := h.popNext(); w != nil {
		h.active++
		w.tenant.active++
		close(w.granted)
	}
	if h.active == 0 {
		delete(s.hosts, s.hostKey)
	}
}
