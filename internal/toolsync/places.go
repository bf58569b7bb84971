package toolsync

import (
	"context"
	"slices"
	"sync"
	"time"
)

// How many scheduled syncs a process has under way. One waits for its server nearly all of the time.
const (
	maxPlaces = 512
	perHost   = 16   // of one server: the others wait without a place
	maxClaims = 2048 // with those that wait
	maxSaves  = 8    // that write what differs at once: the pool's other connections are for everybody else, the heartbeat among them

	fewPlaces = 64                    // that are worth a claim, which looks at all that is due
	gather    = 50 * time.Millisecond // after which fewer will do
	roomWait  = 5 * time.Second       // for any at all: whoever waits keeps its turn among the shards
)

// places bounds the scheduled syncs of this process. Whoever waits for a server that is busy gives its place to others meanwhile.
type places struct {
	turn chan struct{} // of the one who gathers places; the others come in their order

	mu      sync.Mutex // guards what follows
	asking  int        // who gathers places, and who waits for that
	free    int
	claims  int             // in hand
	change  chan struct{}   // closed when a place is free
	waiting []chan struct{} // for a place, with their server's seat taken; first come, first served
	hosts   map[string]*host
}

// host is one server, as scheme, name and port.
type host struct {
	busy    int
	waiting []chan struct{}
}

func newPlaces() *places {
	return &places{turn: make(chan struct{}, 1), free: maxPlaces, change: make(chan struct{}), hosts: map[string]*host{}}
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
	most = max(1, min(most, maxPlaces/p.asking))
	if p.free < min(few, most) || p.claims >= maxClaims {
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

// sit has the holder of a place talk to a server, when its turn comes. leave gives back both; where ctx ends before, the place is
// given back already.
func (p *places) sit(ctx context.Context, name string) (leave func(), err error) {
	defer func() {
		if err != nil {
			p.mu.Lock()
			p.claims--
			p.mu.Unlock()
		}
	}()
	if seat := p.seat(name); seat != nil {
		if err := p.await(ctx, seat, func() { p.unqueue(name, seat) }); err != nil {
			return nil, err
		}
		if place := p.place(); place != nil {
			if err := p.await(ctx, place, func() { p.forgo(name, place) }); err != nil {
				return nil, err
			}
		}
	}
	return func() { p.leave(name) }, nil
}

func (p *places) await(ctx context.Context, turn <-chan struct{}, giveUp func()) error {
	select {
	case <-turn:
		return nil
	case <-ctx.Done():
		giveUp()
		return context.Cause(ctx)
	}
}

// seat takes a seat at a server, or gives the place back and says what to wait for.
func (p *places) seat(name string) chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	h := p.hosts[name]
	if h == nil {
		h = &host{}
		p.hosts[name] = h
	}
	if h.busy < perHost {
		h.busy++
		return nil
	}
	turn := make(chan struct{})
	h.waiting = append(h.waiting, turn)
	p.giveBack()
	return turn
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

// unqueue gives up waiting for a seat. One that came at the same moment is passed on.
func (p *places) unqueue(name string, turn chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	h := p.hosts[name]
	if i := slices.Index(h.waiting, turn); i >= 0 {
		h.waiting = slices.Delete(h.waiting, i, i+1)
		return
	}
	p.rise(name)
}

// forgo gives up waiting for a place, and the seat.
func (p *places) forgo(name string, turn chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.rise(name)
	if i := slices.Index(p.waiting, turn); i >= 0 {
		p.waiting = slices.Delete(p.waiting, i, i+1)
		return
	}
	p.giveBack()
}

func (p *places) leave(name string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.claims--
	p.rise(name)
	p.giveBack()
}

// rise passes a seat on. The caller has the lock.
func (p *places) rise(name string) {
	h := p.hosts[name]
	if len(h.waiting) > 0 {
		close(h.waiting[0])
		h.waiting = h.waiting[1:]
		return
	}
	if h.busy--; h.busy == 0 {
		delete(p.hosts, name)
	}
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
