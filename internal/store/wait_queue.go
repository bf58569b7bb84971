package store

import (
	"context"
	"errors"
	"net/netip"
	"slices"
	"sync"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/safe"
)

// Bounds of the queue of requests that wait for the database, per process.
const (
	maxDatabaseWait    = 15 * time.Second // per request, in all
	maxWaiting         = 1000             // requests of known callers
	maxWaitingTenant   = 500              // of these, per tenant
	maxWaitingBytes    = 64 << 20         // request bodies in memory
	maxTenantBytes     = 16 << 20         // of these, per tenant
	maxWaitingUnknown  = 250              // requests with a token that this process has not verified yet
	maxWaitingNetwork  = 64               // of these, per network
	maxReleased        = 8                // concurrent requests after recovery: half of a usual pool
	minProbePause      = 25 * time.Millisecond
	maxProbePause      = 500 * time.Millisecond
	probeTime          = 2 * time.Second
	databaseRetryAfter = 5 // seconds
)

// WaitBudget bounds one request's waiting for the database. One goroutine uses it at a time.
type WaitBudget struct {
	Arrived time.Time           // requests are served in order of arrival; zero: set at the first query
	From    netip.Addr          // network of an unverified caller
	Tenant  connectors.TenantID // tenant of a verified caller; zero: not verified yet
	Bytes   int                 // size of the request body in memory

	spent time.Duration // of maxDatabaseWait
}

// Spent returns how long the request has waited; zero for a nil budget.
func (b *WaitBudget) Spent() time.Duration {
	if b == nil {
		return 0
	}
	return b.spent
}

// waitOwner is the key of a share of the queue: a tenant, or the network of an unverified caller.
type waitOwner struct {
	tenant  connectors.TenantID
	network netip.Addr
}

func (b *WaitBudget) ownerKey() (o waitOwner, known bool) {
	if b.Tenant == (connectors.TenantID{}) {
		return waitOwner{network: b.From}, false
	}
	return waitOwner{tenant: b.Tenant}, true
}

// waitQueue holds requests while the database is unavailable. One goroutine probes the database while any of
// them waits. When it answers, requests are released in order, a few at a time, to rerun what failed.
type waitQueue struct {
	probe        func(context.Context) error
	probeContext context.Context //nolint:containedctx // of the probing goroutine
	stopProbing  context.CancelFunc
	tasks        sync.WaitGroup

	mu        sync.Mutex        // guards what follows
	waiting   []*waitingRequest // in order of release
	owners    map[waitOwner]int
	heldBytes map[waitOwner]int // bytes of waiting bodies
	unknown   int               // waiting unverified callers
	bytes     int               // of waiting bodies
	released  int               // requests that query the database now
	probing   bool
	failures  int // consecutive, of probes and of released requests
	stats     WaitStats
}

// waitingRequest is a request in the queue. It keeps its position, also while it is released, until it is
// removed.
type waitingRequest struct {
	arrived    time.Time
	owner      waitOwner
	hasOwner   bool
	bytes      int
	released   chan struct{} // receives a value on release, and is closed on eviction
	isReleased bool          // guarded by waitQueue.mu
}

func newWaitQueue(probe func(context.Context) error) *waitQueue {
	wq := &waitQueue{probe: probe, owners: map[waitOwner]int{}, heldBytes: map[waitOwner]int{}}
	wq.probeContext, wq.stopProbing = context.WithCancel(context.Background())
	return wq
}

// close stops the probing and waits for it.
func (wq *waitQueue) close() {
	wq.stopProbing()
	wq.tasks.Wait()
}

// run runs do. While the database is unavailable, the request waits in the queue and do runs again, until it
// succeeds. The error is do's, or Unavailable with a retry time.
func (wq *waitQueue) run(ctx context.Context, b *WaitBudget, do func(context.Context) error) error {
	if b == nil {
		return do(ctx)
	}
	within, cancel := context.WithTimeout(ctx, maxDatabaseWait-b.spent)
	defer cancel()
	late := func(err error) bool { return within.Err() != nil && errors.Is(err, context.DeadlineExceeded) }
	final := func(err error) bool {
		return err == nil || ctx.Err() != nil || !IsDatabaseUnavailable(err) && !late(err)
	}
	began := time.Now()
	if b.Arrived.IsZero() {
		b.Arrived = began
	}
	if !wq.hasWaiting() {
		if err := do(within); final(err) {
			return err
		}
	}
	defer func() { b.spent += time.Since(began) }()
	w := wq.addRequest(b)
	if w == nil {
		return wq.newRefusal(RefusedFull)
	}
	defer func() { wq.removeFinished(w, time.Since(began)) }()
	for {
		select {
		case _, stays := <-w.released:
			if !stays {
				return wq.newRefusal(RefusedFull)
			}
		case <-within.Done():
			if ctx.Err() != nil {
				return ctx.Err()
			}
			return wq.newRefusal(RefusedLate)
		}
		if err := do(within); final(err) {
			return err
		}
		wq.requeue(w)
	}
}

// hasWaiting reports whether requests wait, which are served before new ones.
func (wq *waitQueue) hasWaiting() bool {
	wq.mu.Lock()
	defer wq.mu.Unlock()
	return len(wq.waiting) > 0
}

// addRequest inserts a request into the queue; nil: no space.
func (wq *waitQueue) addRequest(b *WaitBudget) *waitingRequest {
	w := &waitingRequest{arrived: b.Arrived, bytes: b.Bytes, released: make(chan struct{}, 1)}
	w.owner, w.hasOwner = b.ownerKey()
	wq.mu.Lock()
	defer wq.mu.Unlock()
	if wq.isFull(w) && !wq.evictFor(w) {
		return nil
	}
	wq.countRequest(w, 1)
	at, _ := slices.BinarySearchFunc(wq.waiting, w, releaseOrder)
	wq.waiting = slices.Insert(wq.waiting, at, w)
	if wq.released == 0 {
		wq.startProbe()
	}
	wq.releaseNext() // if the database answers again
	return w
}

// isFull reports whether there is no space for a request. mu is held.
func (wq *waitQueue) isFull(w *waitingRequest) bool {
	if !w.hasOwner {
		return wq.unknown >= maxWaitingUnknown || wq.owners[w.owner] >= maxWaitingNetwork
	}
	return len(wq.waiting)-wq.unknown >= maxWaiting || wq.owners[w.owner] >= maxWaitingTenant || wq.bytes+w.bytes > maxWaitingBytes ||
		wq.heldBytes[w.owner]+w.bytes > maxTenantBytes
}

// evictFor evicts the newest request of the network with the most unverified requests, if w's network has
// fewer, so that a few networks cannot block the others. It reports whether it did. mu is held.
func (wq *waitQueue) evictFor(w *waitingRequest) bool {
	if w.hasOwner || wq.owners[w.owner] >= maxWaitingNetwork {
		return false
	}
	var newest *waitingRequest
	for _, other := range wq.waiting {
		if !other.hasOwner && !other.isReleased && (newest == nil || wq.owners[other.owner] >= wq.owners[newest.owner]) {
			newest = other
		}
	}
	if newest == nil || wq.owners[newest.owner] <= wq.owners[w.owner]+1 {
		return false
	}
	wq.removeRequest(newest)
	close(newest.released)
	return true
}

// removeRequest removes a request from the queue. mu is held.
func (wq *waitQueue) removeRequest(w *waitingRequest) {
	if at := slices.Index(wq.waiting, w); at >= 0 { // else it was evicted
		wq.waiting = slices.Delete(wq.waiting, at, at+1)
		wq.countRequest(w, -1)
	}
}

// countRequest adds a request's share, or subtracts it for by -1. mu is held.
func (wq *waitQueue) countRequest(w *waitingRequest, by int) {
	if !w.hasOwner {
		wq.unknown += by
	}
	wq.bytes += by * w.bytes
	wq.heldBytes[w.owner] += by * w.bytes
	if wq.owners[w.owner] += by; wq.owners[w.owner] == 0 {
		delete(wq.owners, w.owner)
		delete(wq.heldBytes, w.owner)
	}
}

// releaseOrder sorts verified callers first, then by arrival.
func releaseOrder(one, other *waitingRequest) int {
	switch {
	case one.hasOwner == other.hasOwner:
		return one.arrived.Compare(other.arrived)
	case one.hasOwner:
		return -1
	default:
		return 1
	}
}

// removeFinished removes a request. If it was released, the next one is.
func (wq *waitQueue) removeFinished(w *waitingRequest, waited time.Duration) {
	wq.mu.Lock()
	defer wq.mu.Unlock()
	wq.removeRequest(w)
	wq.stats.observeWait(waited)
	if w.isReleased {
		wq.released--
		wq.failures = 0
		wq.releaseNext()
	}
}

// requeue makes a request wait again at its position: the database is unavailable again.
func (wq *waitQueue) requeue(w *waitingRequest) {
	wq.mu.Lock()
	defer wq.mu.Unlock()
	w.isReleased = false
	wq.released--
	wq.failures++
	wq.startProbe()
}

// releaseNext releases the first requests. mu is held.
func (wq *waitQueue) releaseNext() {
	if wq.probing {
		return
	}
	for _, w := range wq.waiting {
		if wq.released >= maxReleased {
			return
		}
		if !w.isReleased {
			w.isReleased = true
			wq.released++
			w.released <- struct{}{}
		}
	}
}

// startProbe starts the probing goroutine unless it runs. mu is held.
func (wq *waitQueue) startProbe() {
	if wq.probing || wq.probeContext.Err() != nil {
		return
	}
	wq.probing = true
	safe.GoIn(&wq.tasks, safe.Background, func() {
		safe.RunLoop(wq.probeContext, "probe of the database", func(context.Context) {
			over := false
			for !over {
				over = wq.probeOnce()
			}
		})
	})
}

// probeOnce probes the database once, after a pause if the last probe failed. It reports whether probing is
// done.
func (wq *waitQueue) probeOnce() bool {
	select {
	case <-time.After(wq.probePause()):
	case <-wq.probeContext.Done():
		return true
	}
	ctx, cancel := context.WithTimeout(wq.probeContext, probeTime)
	defer cancel()
	err := safe.Try(safe.Background, func() error { return wq.probe(ctx) })()
	wq.mu.Lock()
	defer wq.mu.Unlock()
	if err != nil && len(wq.waiting) > 0 {
		wq.failures++
		return false
	}
	wq.probing = false
	wq.releaseNext()
	return true
}

// probePause returns the time before the next probe.
func (wq *waitQueue) probePause() time.Duration {
	wq.mu.Lock()
	defer wq.mu.Unlock()
	if wq.failures == 0 {
		return 0
	}
	return min(minProbePause<<min(wq.failures-1, 10), maxProbePause)
}

// newRefusal returns the error of a request that stops waiting.
func (wq *waitQueue) newRefusal(why string) error {
	wq.mu.Lock()
	defer wq.mu.Unlock()
	wq.stats.countRefused(why)
	f := fault.Errorf(fault.Unavailable, "The database isn't answering. Try again in %d seconds.", databaseRetryAfter)
	f.RetryAfter = databaseRetryAfter
	return f
}
