package mcp

import (
	"container/list"
	"context"
	"errors"
	"sync"
	"time"
)

// freeRoom is how long an answer may be that takes no room: short answers wait for nobody.
const freeRoom = maxScratch

// defaultPatience is how long an answer waits for room, where its time is not over before.
const defaultPatience = 10 * time.Second

// Room bounds the memory that long answers take while they are read, those of all together and those of one payer ([Call.Payer]): an
// answer whose length is announced takes that, another one the most that it may have. Who comes first is served first, but past those
// whose payer has its share already. Whoever has room waits for no more of it, so that all get theirs. What is read from a stream that
// several share (HTTP+SSE, a program) takes none: it is one message at a time there. The zero value reads one long answer at a time.
type Room struct {
	All, Each int           // bytes; Each is at least that of one answer
	Patience  time.Duration // 0: ten seconds

	mu    sync.Mutex // guards what follows
	used  int
	of    map[[16]byte]int
	queue list.List // of *entrant
}

// entrant waits for room.
type entrant struct {
	payer [16]byte
	n     int
	in    chan struct{} // closed when it has it
}

// errCrowded says that an answer found no room. The text is shown.
var errCrowded = errors.New("answered at length while too many long answers were on their way")

// enter waits for room, for half of the time that is left at most: what is to be read takes time, too.
func (r *Room) enter(ctx context.Context, payer [16]byte, n int) error {
	e := &entrant{payer: payer, n: n, in: make(chan struct{})}
	at := r.push(e)
	patience := r.Patience
	if patience <= 0 {
		patience = defaultPatience
	}
	if until, ok := ctx.Deadline(); ok {
		patience = min(patience, time.Until(until)/2)
	}
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-e.in:
		return nil
	case <-timer.C:
	case <-ctx.Done():
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	select {
	case <-e.in:
		return nil
	default:
	}
	r.queue.Remove(at)
	r.admit() // who stood behind it may be shorter
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return errCrowded
}

// push puts an entrant at the end of the queue.
func (r *Room) push(e *entrant) *list.Element {
	r.mu.Lock()
	defer r.mu.Unlock()
	at := r.queue.PushBack(e)
	r.admit()
	return at
}

// admit lets in who has waited for longest, as long as there is room. mu is held.
func (r *Room) admit() {
	if r.of == nil {
		r.of = map[[16]byte]int{}
	}
	for at := r.queue.Front(); at != nil; {
		e, _ := at.Value.(*entrant) // nothing else is in the list
		next := at.Next()
		switch {
		case r.of[e.payer] > 0 && r.of[e.payer]+e.n > r.Each:
		case r.used > 0 && r.used+e.n > r.All:
			return
		default:
			r.used += e.n
			r.of[e.payer] += e.n
			r.queue.Remove(at)
			close(e.in)
		}
		at = next
	}
}

func (r *Room) leave(payer [16]byte, n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.used -= n
	if r.of[payer] -= n; r.of[payer] == 0 {
		delete(r.of, payer)
	}
	r.admit()
}

// claim is the room of one answer. The zero value is for one that takes none.
type claim struct {
	room  *Room // nil: it takes none
	ctx   context.Context
	payer [16]byte
	held  int
}

// claim is that of an answer to m.
func (c *httpCarrier) claim(ctx context.Context, m outgoing) claim {
	if m.payer == ([16]byte{}) {
		return claim{}
	}
	return claim{room: c.room, ctx: ctx, payer: m.payer}
}

// take takes room for n bytes, where that is much, and once.
func (c *claim) take(n int) error {
	if c.room == nil || c.held > 0 || n <= freeRoom {
		return nil
	}
	if err := c.room.enter(c.ctx, c.payer, n); err != nil {
		return err
	}
	c.held = n
	return nil
}

// takeMost takes room for the longest answer that there is, where this one gets long.
func (c *claim) takeMost(n int) error {
	if n <= freeRoom {
		return nil
	}
	return c.take(maxBody)
}

// give gives the room back.
func (c *claim) give() {
	if c.held > 0 {
		c.room.leave(c.payer, c.held)
		c.held = 0
	}
}
