package toolsync

import (
	"context"
	"sync"
	"time"

	"patchbay/internal/safe"
)

// Limits on scheduled syncs in a process. Nearly all of its time a sync waits for its server.
const (
	maxSlots           = 512
	maxTenantHostSlots = 16   // of one tenant at one server; further ones wait without a pool slot
	maxHostSlots       = 24   // of all tenants at one server, so that one tenant's hung connectors leave slots to others
	maxClaims          = 2048 // with queued ones and those of slow servers
	maxSaves           = 8    // concurrent writes of changes; the other connections serve the rest, with the heartbeat

	minReservation   = 64                    // worth a claim, which scans all that is due
	gatherTime       = 50 * time.Millisecond // after which one slot is enough
	reserveTimeout   = 5 * time.Second       // for any slot; until then a shard keeps its turn
	slowSessionAfter = 5 * time.Second       // a longer session gives up its pool slot, so that hung servers leave slots to others
)

// slotPool bounds the scheduled syncs of this process. A sync that waits for a busy host gives its slot to
// others meanwhile, and is postponed when the wait would be long (hostqueue.go).
type slotPool struct {
	capacity  int           // slots in all
	reserving chan struct{} // semaphore of one reserver; the others queue

	mu        sync.Mutex // guards the fields below
	reservers int        // active and queued
	free      int
	claims    int             // held by this process
	changed   chan struct{}   // closed when a slot is free
	waiting   []chan struct{} // syncs with a host slot, in order of arrival
	hosts     map[string]*hostQueue
}

func newSlotPool(capacity int) *slotPool {
	return &slotPool{capacity: capacity, reserving: make(chan struct{}, 1), free: capacity, changed: make(chan struct{}), hosts: map[string]*hostQueue{}}
}

// reserveSlots takes up to limit slots, at most an equal share when other shards wait. It gathers
// minReservation rather than take single ones. 0: none became free in time, or ctx is done.
func (p *slotPool) reserveSlots(ctx context.Context, limit int) int {
	ctx, cancel := context.WithTimeout(ctx, reserveTimeout)
	defer cancel()
	p.addReservers(1)
	defer p.addReservers(-1)
	select {
	case p.reserving <- struct{}{}:
		defer func() { <-p.reserving }()
	case <-ctx.Done():
		return 0
	}
	minimum := minReservation
	gathering := time.NewTimer(gatherTime)
	defer gathering.Stop()
	for {
		n, changed := p.tryReserve(minimum, limit)
		if n > 0 {
			return n
		}
		select {
		case <-changed:
		case <-gathering.C:
			minimum = 1
		case <-ctx.Done():
			return 0
		}
	}
}

func (p *slotPool) addReservers(delta int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.reservers += delta
}

// tryReserve takes between minimum and limit slots. If it takes none it returns a channel that is closed when
// slots are free.
func (p *slotPool) tryReserve(minimum, limit int) (int, <-chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	limit = max(1, min(limit, p.capacity/max(p.reservers, 1)))
	if p.free < min(minimum, limit) || p.claims >= p.capacity*(maxClaims/maxSlots) {
		return 0, p.changed
	}
	n := min(p.free, limit)
	p.free -= n
	p.claims += n
	return n, nil
}

// returnSlots gives back reserved slots without a claim.
func (p *slotPool) returnSlots(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.claims -= n
	for range n {
		p.releaseSlotLocked()
	}
}

// requestSlot takes a slot and returns nil, or returns a channel that is closed when a slot is granted.
func (p *slotPool) requestSlot() chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.free > 0 {
		p.free--
		return nil
	}
	granted := make(chan struct{})
	p.waiting = append(p.waiting, granted)
	return granted
}

// yieldSlot gives up the slot of a session that goes on.
func (p *slotPool) yieldSlot() {
	defer safe.Recover(safe.Timer)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.releaseSlotLocked()
}

// releaseSlotLocked gives a slot to the next waiter, else to the pool. The caller holds mu.
func (p *slotPool) releaseSlotLocked() {
	if len(p.waiting) > 0 {
		close(p.waiting[0])
		p.waiting = p.waiting[1:]
		return
	}
	p.free++
	close(p.changed)
	p.changed = make(chan struct{})
}
