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

// The bounds of the queue of requests that wait for the database, in one process.
const (
	maxDatabaseWait    = 15 * time.Second // of one request, in all
	maxWaiting         = 1000             // requests of callers that are known
	maxWaitingTenant   = 500              // of these, of one tenant
	maxWaitingBytes    = 64 << 20         // of bodies that they hold
	maxTenantBytes     = 16 << 20         // of these, of one tenant
	maxWaitingUnknown  = 250              // requests with a token that this process has not seen yet
	maxWaitingNetwork  = 64               // of these, from one network
	maxReleased        = 8                // requests that ask the database at once when it is back: half of a usual pool
	minProbePause      = 25 * time.Millisecond
	maxProbePause      = 500 * time.Millisecond
	probeTime          = 2 * time.Second
	databaseRetryAfter = 5 // seconds
)

// WaitBudget lets one request wait for the database. It is used by one goroutine at a time.
type WaitBudget struct {
	Arrived time.Time           // requests that arrived first are served first; zero: set when the database is first asked
	From    netip.Addr          // the network of a caller that is not known
	Tenant  connectors.TenantID // of a caller that is known; zero: this process has not seen its token yet
	Bytes   int                 // of the body that the request holds while it waits

	spent time.Duration // of maxDatabaseWait
}

// Spent is how long the request has waited. Of a nil budget it is zero.
func (b *WaitBudget) Spent() time.Duration {
	if b == nil {
		return 0
	}
	return b.spent
}

// waitOwner is whose share of the queue a request takes: a tenant's, or that of a network whose caller is not known.
type waitOwner struct {
	tenant  connectors.TenantID
	network netip.Addr
}

func (b *WaitBudget) owner() (o waitOwner, known bool) {
	if b.Tenant == (connectors.TenantID{}) {
		return waitOwner{network: b.From}, false
	}
	return waitOwner{tenant: b.Tenant}, true
}

// waitQueue holds requests while the database is away. One goroutine probes the database as long as any of them waits. When it answers, they
// are released in order, a few at a time, to run what failed again.
type waitQueue struct {
	probe func(context.Context) error
	life  context.Context //nolint:containedctx // of the probing goroutine
	end   context.CancelFunc
	tasks sync.WaitGroup

	mu       sync.Mutex // guards what follows
	waiting  []*waiter  // in order of release
	owners   map[waitOwner]int
	held     map[waitOwner]int // bytes of bodies in waiting
	unknown  int               // callers in waiting
	bytes    int               // of bodies in waiting
	released int               // waiters that ask the database now
	probing  bool
	failures int // of probes and of released waiters, in a row
	stats    WaitStats
}

// waiter is a request in the queue. It keeps its place there until it leaves, also while it is released.
type waiter struct {
	arrived  time.Time
	owner    waitOwner
	known    bool
	bytes    int
	turn     chan struct{} // takes one when the waiter is released, and is closed when it is evicted
	released bool          // guarded by waitQueue.mu
}

func newWaitQueue(probe func(context.Context) error) *waitQueue {
	wq := &waitQueue{probe: probe, owners: map[waitOwner]int{}, held: map[waitOwner]int{}}
	wq.life, wq.end = context.WithCancel(context.Background())
	return wq
}

// close ends the probing, and waits for that.
func (wq *waitQueue) close() {
	wq.end()
	wq.tasks.Wait()
}

// run runs do. Where it fails with an error after which it may run again, the request waits in the queue until it has run without one. The error
// is that of do, or Unavailable with the time after which to try again.
func (wq *waitQueue) run(ctx context.Context, b *WaitBudget, again func(error) bool, do func(context.Context) error) error {
	if b == nil {
		return do(ctx)
	}
	within, cancel := context.WithTimeout(ctx, maxDatabaseWait-b.spent)
	defer cancel()
	late := func(err error) bool { return within.Err() != nil && errors.Is(err, context.DeadlineExceeded) }
	final := func(err error) bool { return err == nil || ctx.Err() != nil || !again(err) && !late(err) }
	began := time.Now()
	if b.Arrived.IsZero() {
		b.Arrived = began
	}
	if !wq.busy() {
		if err := do(within); final(err) {
			return err
		}
	}
	defer func() { b.spent += time.Since(began) }()
	w := wq.join(b)
	if w == nil {
		return wq.refuse(RefusedFull)
	}
	defer func() { wq.leave(w, time.Since(began)) }()
	for {
		select {
		case _, stays := <-w.turn:
			if !stays {
				return wq.refuse(RefusedFull)
			}
		case <-within.Done():
			if ctx.Err() != nil {
				return ctx.Err()
			}
			return wq.refuse(RefusedLate)
		}
		if err := do(within); final(err) {
			return err
		}
		wq.failed(w)
	}
}

// busy reports whether requests wait, which are served before another one.
func (wq *waitQueue) busy() bool {
	wq.mu.Lock()
	defer wq.mu.Unlock()
	return len(wq.waiting) > 0
}

// join puts a request at its place in the queue; nil: there is no room.
func (wq *waitQueue) join(b *WaitBudget) *waiter {
	w := &waiter{arrived: b.Arrived, bytes: b.Bytes, turn: make(chan struct{}, 1)}
	w.owner, w.known = b.owner()
	wq.mu.Lock()
	defer wq.mu.Unlock()
	if wq.full(w) && !wq.evictFor(w) {
		return nil
	}
	wq.count(w, 1)
	at, _ := slices.BinarySearchFunc(wq.waiting, w, releaseOrder)
	wq.waiting = slices.Insert(wq.waiting, at, w)
	if wq.released == 0 {
		wq.startProbe()
	}
	wq.release() // where the database is back
	return w
}

// full reports whether there is no room for a request. mu is held.
func (wq *waitQueue) full(w *waiter) bool {
	if !w.known {
		return wq.unknown >= maxWaitingUnknown || wq.owners[w.owner] >= maxWaitingNetwork
	}
	return len(wq.waiting)-wq.unknown >= maxWaiting || wq.owners[w.owner] >= maxWaitingTenant || wq.bytes+w.bytes > maxWaitingBytes ||
		wq.held[w.owner]+w.bytes > maxTenantBytes
}

// evictFor takes the newest request out of the queue of the network that has the most of those whose callers are not known, where w comes from
// one that has fewer: a few networks cannot keep the others out. It reports whether it did. mu is held.
func (wq *waitQueue) evictFor(w *waiter) bool {
	if w.known || wq.owners[w.owner] >= maxWaitingNetwork {
		return false
	}
	var newest *waiter
	for _, other := range wq.waiting {
		if !other.known && !other.released && (newest == nil || wq.owners[other.owner] >= wq.owners[newest.owner]) {
			newest = other
		}
	}
	if newest == nil || wq.owners[newest.owner] <= wq.owners[w.owner]+1 {
		return false
	}
	wq.remove(newest)
	close(newest.turn)
	return true
}

// remove takes a request out of the queue. mu is held.
func (wq *waitQueue) remove(w *waiter) {
	if at := slices.Index(wq.waiting, w); at >= 0 { // else it was evicted
		wq.waiting = slices.Delete(wq.waiting, at, at+1)
		wq.count(w, -1)
	}
}

// count adds a request to what is in the queue, or takes it off. mu is held.
func (wq *waitQueue) count(w *waiter, by int) {
	if !w.known {
		wq.unknown += by
	}
	wq.bytes += by * w.bytes
	wq.held[w.owner] += by * w.bytes
	if wq.owners[w.owner] += by; wq.owners[w.owner] == 0 {
		delete(wq.owners, w.owner)
		delete(wq.held, w.owner)
	}
}

// releaseOrder sorts callers that are known before others, and then by their arrival.
func releaseOrder(one, other *waiter) int {
	switch {
	case one.known == other.known:
		return one.arrived.Compare(other.arrived)
	case one.known:
		return -1
	default:
		return 1
	}
}

// leave takes a request out of the queue. Where it was released, another one takes its turn.
func (wq *waitQueue) leave(w *waiter, waited time.Duration) {
	wq.mu.Lock()
	defer wq.mu.Unlock()
	wq.remove(w)
	wq.stats.observe(waited)
	if w.released {
		wq.released--
		wq.failures = 0
		wq.release()
	}
}

// failed has a request wait once more, at its place: the database is away again.
func (wq *waitQueue) failed(w *waiter) {
	wq.mu.Lock()
	defer wq.mu.Unlock()
	w.released = false
	wq.released--
	wq.failures++
	wq.startProbe()
}

// release gives the first requests their turn. mu is held.
func (wq *waitQueue) release() {
	if wq.probing {
		return
	}
	for _, w := range wq.waiting {
		if wq.released >= maxReleased {
			return
		}
		if !w.released {
			w.released = true
			wq.released++
			w.turn <- struct{}{}
		}
	}
}

// startProbe starts the goroutine that probes the database, unless it runs. mu is held.
func (wq *waitQueue) startProbe() {
	if wq.probing || wq.life.Err() != nil {
		return
	}
	wq.probing = true
	safe.GoIn(&wq.tasks, safe.Background, func() {
		over := false
		for !over {
			over = wq.back()
		}
	})
}

// back probes the database once, after a pause where it has failed before. It reports whether the probing is over.
func (wq *waitQueue) back() bool {
	select {
	case <-time.After(wq.pause()):
	case <-wq.life.Done():
		return true
	}
	ctx, cancel := context.WithTimeout(wq.life, probeTime)
	defer cancel()
	err := safe.Try(safe.Background, func() error { return wq.probe(ctx) })()
	wq.mu.Lock()
	defer wq.mu.Unlock()
	if err != nil && len(wq.waiting) > 0 {
		wq.failures++
		return false
	}
	wq.probing = false
	wq.release()
	return true
}

// pause is the time before the next probe.
func (wq *waitQueue) pause() time.Duration {
	wq.mu.Lock()
	defer wq.mu.Unlock()
	if wq.failures == 0 {
		return 0
	}
	return min(minProbePause<<min(wq.failures-1, 10), maxProbePause)
}

// refuse is the error of a request that does not wait any longer.
func (wq *waitQueue) refuse(why string) error {
	wq.mu.Lock()
	defer wq.mu.Unlock()
	wq.stats.refused(why)
	f := fault.Errorf(fault.Unavailable, "The database does not answer. Try again in %d seconds.", databaseRetryAfter)
	f.RetryAfter = databaseRetryAfter
	return f
}
