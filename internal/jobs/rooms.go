package jobs

import (
	"context"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"patchbay/internal/connectors"
)

const (
	// placeWait is how long a job waits for a place before it goes back to its queue: others wait for its worker.
	placeWait = 250 * time.Millisecond
	// later is when a job that went back to its queue is tried again, at least.
	later = 2 * time.Second
	// muchLater is the same at most. What goes back costs a few kilobytes of the log each time.
	muchLater = time.Minute
)

// rooms bound the syncs of a process that somebody asked for: of one tenant, and of all.
type rooms struct {
	all *semaphore.Weighted

	mu      sync.Mutex // guards what follows
	tenants map[connectors.TenantID]*room
}

// room is one tenant's.
type room struct {
	places *semaphore.Weighted

	in     int           // who has a place, and who waits for one; the others are guarded by rooms.mu, too
	mean   time.Duration // that its syncs took lately; 0: none has ended
	booked time.Time     // when the last of those that went back has its turn
}

func newRooms() *rooms {
	return &rooms{all: semaphore.NewWeighted(atOnce), tenants: map[connectors.TenantID]*room{}}
}

// enter takes a place for a tenant's sync; leave gives it back. leave nil: there was none, and away is when there may be one.
func (r *rooms) enter(ctx context.Context, tenant connectors.TenantID) (leave func(), away time.Duration) {
	mine := r.of(tenant)
	ctx, cancel := context.WithTimeout(ctx, placeWait)
	defer cancel()
	if mine.places.Acquire(ctx, 1) != nil {
		return nil, r.out(tenant, mine)
	}
	if r.all.Acquire(ctx, 1) != nil {
		mine.places.Release(1)
		r.out(tenant, mine)
		return nil, later
	}
	began := time.Now()
	return func() {
		r.all.Release(1)
		mine.places.Release(1)
		r.ended(tenant, mine, time.Since(began))
	}, 0
}

func (r *rooms) of(tenant connectors.TenantID) *room {
	r.mu.Lock()
	defer r.mu.Unlock()
	mine := r.tenants[tenant]
	if mine == nil {
		mine = &room{places: semaphore.NewWeighted(perTenant)}
		r.tenants[tenant] = mine
	}
	mine.in++
	return mine
}

// out is the end of waiting in vain: one behind the other, by how long a place is taken.
func (r *rooms) out(tenant connectors.TenantID, mine *room) (away time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	defer r.gone(tenant, mine)
	now := time.Now()
	if soon := now.Add(later); mine.booked.Before(soon) {
		mine.booked = soon
	}
	mine.booked = mine.booked.Add(max(mine.mean, placeWait) / perTenant)
	if latest := now.Add(muchLater); mine.booked.After(latest) {
		mine.booked = latest
	}
	return mine.booked.Sub(now)
}

func (r *rooms) ended(tenant connectors.TenantID, mine *room, took time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	defer r.gone(tenant, mine)
	if mine.mean == 0 {
		mine.mean = took
	}
	mine.mean += (took - mine.mean) / 8
}

// gone forgets a room that nobody is in. The caller has the lock.
func (r *rooms) gone(tenant connectors.TenantID, mine *room) {
	if mine.in--; mine.in == 0 {
		delete(r.tenants, tenant)
	}
}
