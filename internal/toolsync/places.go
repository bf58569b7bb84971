package toolsync

import (
	"context"
	"sync"
	"time"

	"patchbay/internal/safe"
)

// How many scheduled syncs a process has under way. One waits for its server nearly all of the time.
const (
	maxPlaces    = 512
	perHost      = 16   // of one tenant with one server: the others wait without a place
	perHostOfAll = 24   // of all tenants with one server: where one has connectors that hang there, others still talk with it
	maxClaims    = 2048 // with those that wait, and those whose server takes long
	maxSaves     = 8    // that write what differs at once: the pool's other connections are for everybody else, the heartbeat among them

	fewPlaces = 64                    // that are worth a claim, which looks at all that is due
	gather    = 50 * time.Millisecond // after which fewer will do
	roomWait  = 5 * time.Second       // for any at all: whoever waits keeps its turn among the shards
	slowAfter = 5 * time.Second       // a conversation that lasts longer has a place no more: servers that hang leave them to the others
)

// places bounds the scheduled syncs of this process. Whoever waits for a server that is busy gives its place to others meanwhile, and
// comes again later where that would take long (line.go).
type places struct {
	most int           // that are taken at once
	turn chan struct{} // of the one who gathers places; the others come in their order

	mu      sync.Mutex // guards what follows
	asking  int        // who gathers places, and who waits for that
	free    int
	claims  int             // in hand
	change  chan struct{}   // closed when a place is free
	waiting []chan struct{} // for a place, with their server's seat taken; first come, first served
	hosts   map[string]*host
}

func newPlaces(most int) *places {
	return &places{most: most, turn: make(chan struct{}, 1), free: most, change: make(chan struct{}), hosts: map[string]*host{}}
}

// reserve takes up to most places: many at once, rather than some at a time, but no more than one's share where others ask, too. None:
// there is no room, or ctx is done.
func (p *places) reserve(ctx context.Context, most int) int {
	ctx, cancel := context.WithTimeout(ctx, roomWait)
	defer cancel()
	p.ask(1)
	defer p.ask(-1)
	select {
	case p.turn <- struct{}{}:
		defer func() { <-p.turn }()
	case <-ctx.Done():
		return 0
	}
	few := fewPlaces
	soon := time.NewTimer(gather)
	defer soon.Stop()
	for {
		n, change := p.take(few, most)
		if n > 0 {
			return n
		}
		select {
		case <-change:
		case <-soon.C:
			few = 1
		case <-ctx.Done():
			return 0
		}
	}
}

func (p *places) ask(one int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asking += one
}

// take takes between few and most places, or says what to wait for.
func (p *places) take(few, most int) (int, <-chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	most = max(1, min(most, p.most/max(p.asking, 1)))
	if p.free < min(few, most) || p.claims >= p.most*(maxClaims/maxPlaces) {
		return 0, p.change
	}
	n := min(p.free, most)
	p.free -= n
	p.claims += n
	return n, nil
}

// refund gives back reserved places that found nothing to do.
func (p *places) refund(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.claims -= n
	for range n {
		p.giveBack()
	}
}

// place takes a place again, or says what to wait for.
func (p *places) place() chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.free > 0 {
		p.free--
		return nil
	}
	turn := make(chan struct{})
	p.waiting = append(p.waiting, turn)
	return turn
}

// yield gives up the place of a conversation that goes on.
func (p *places) yield() {
	defer safe.Recover(safe.Timer)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.giveBack()
}

// giveBack passes a place on. The caller has the lock.
func (p *places) giveBack() {
	if len(p.waiting) > 0 {
		close(p.waiting[0])
		p.waiting = p.waiting[1:]
		return
	}
	p.free++
	close(p.change)
	p.change = make(chan struct{})
}
