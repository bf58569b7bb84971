package jobs

import (
	"context"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"patchbay/internal/connectors"
)

const (
	// slotWait is how long a job waits for a slot before it is snoozed, because other jobs need its worker.
	slotWait = 250 * time.Millisecond
	// minRetryAfter is the shortest snooze.
	minRetryAfter = 2 * time.Second
	// maxRetryAfter is the longest snooze. Each costs a few kilobytes of WAL.
	maxRetryAfter = time.Minute
)

// syncSlots bounds the requested syncs of a process, per tenant and in total.
type syncSlots struct {
	total *semaphore.Weighted

	mu      sync.Mutex // guards tenants and what is in them
	tenants map[connectors.TenantID]*tenantSlots
}

// tenantSlots are the slots of one tenant.
type tenantSlots struct {
	slots *semaphore.Weighted

	users        int           // jobs with a slot or waiting for one
	meanDuration time.Duration // moving average over syncs; 0: unknown
	lastRetry    time.Time     // time given to the last snoozed job
}

func newSyncSlots() *syncSlots {
	return &syncSlots{total: semaphore.NewWeighted(maxSyncs), tenants: map[connectors.TenantID]*tenantSlots{}}
}

// acquireSlot takes a slot for a tenant's sync. release nil: there is none, and the job is to be snoozed for
// retryAfter.
func (s *syncSlots) acquireSlot(ctx context.Context, tenant connectors.TenantID) (release func(), retryAfter time.Duration) {
	own := s.useTenantSlots(tenant)
	ctx, cancel := context.WithTimeout(ctx, slotWait)
	defer cancel()
	if own.slots.Acquire(ctx, 1) != nil {
		return nil, s.nextRetryAfter(tenant, own)
	}
	if s.total.Acquire(ctx, 1) != nil {
		own.slots.Release(1)
		s.nextRetryAfter(tenant, own)
		return nil, minRetryAfter
	}
	startedAt := time.Now()
	return func() {
		s.total.Release(1)
		own.slots.Release(1)
		s.recordDuration(tenant, own, time.Since(startedAt))
	}, 0
}

func (s *syncSlots) useTenantSlots(tenant connectors.TenantID) *tenantSlots {
	s.mu.Lock()
	defer s.mu.Unlock()
	own := s.tenants[tenant]
	if own == nil {
		own = &tenantSlots{slots: semaphore.NewWeighted(maxTenantSyncs)}
		s.tenants[tenant] = own
	}
	own.users++
	return own
}

// nextRetryAfter returns the delay of a job without a slot, each behind the one before by the mean duration of
// a slot. It ends the job's use of the tenant's slots.
func (s *syncSlots) nextRetryAfter(tenant connectors.TenantID, own *tenantSlots) (retryAfter time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer s.removeUserLocked(tenant, own)
	now := time.Now()
	if earliest := now.Add(minRetryAfter); own.lastRetry.Before(earliest) {
		own.lastRetry = earliest
	}
	own.lastRetry = own.lastRetry.Add(max(own.meanDuration, slotWait) / maxTenantSyncs)
	if latest := now.Add(maxRetryAfter); own.lastRetry.After(latest) {
		own.lastRetry = latest
	}
	return own.lastRetry.Sub(now)
}

func (s *syncSlots) recordDuration(tenant connectors.TenantID, own *tenantSlots, took time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer s.removeUserLocked(tenant, own)
	if own.meanDuration == 0 {
		own.meanDuration = took
	}
	own.meanDuration += (took - own.meanDuration) / 8
}

// removeUserLocked deletes the tenant's slots after their last user. The caller holds mu.
func (s *syncSlots) removeUserLocked(tenant connectors.TenantID, own *tenantSlots) {
	if own.users--; own.users == 0 {
		delete(s.tenants, tenant)
	}
}
