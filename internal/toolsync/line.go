package toolsync

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"time"

	"patchbay/internal/connectors"
)

// How long a claim waits for a server that has all the conversations that it may have: while its line moves, but not for ever. After that
// it is given back and the connector is due again later, so that servers that hang keep no claims that others could use.
const (
	linePatience = 2 * time.Second  // since somebody has left a seat
	mostPatience = 20 * time.Second // in all: where PostgreSQL is what everybody waits for, putting off helps nobody
	leastPutOff  = 5 * time.Second
	mostPutOff   = 5 * time.Minute // what is put off costs a few hundred bytes of the log each time
)

// errBusy is the end of a claim's patience.
var errBusy = errors.New("the server is busy with other conversations")

// host is one server, as scheme, name and port.
type host struct {
	busy    int
	waiting []waiter
	guests  map[connectors.TenantID]*guest
}

// guest is a tenant at a server. Where others have connectors of the same, how theirs fare says nothing of this one's.
type guest struct {
	busy    int
	waiting int
	stuck   bool          // somebody's patience ended, and nobody has left since
	moved   time.Time     // when somebody left last; zero: nobody has
	mean    time.Duration // that conversations lasted lately; 0: not known
	booked  time.Time     // when the last of those that were put off has its turn
}

// waiter stands in the line of a server.
type waiter struct {
	turn  chan struct{}
	guest *guest
}

func (h *host) guest(tenant connectors.TenantID) *guest {
	g := h.guests[tenant]
	if g == nil {
		g = &guest{}
		h.guests[tenant] = g
	}
	return g
}

// seats tells whether there is a seat for a guest.
func (h *host) seats(g *guest) bool { return g.busy < perHost && h.busy < perHostOfAll }

// wait is how long somebody who comes now would wait for a seat.
func (g *guest) wait() time.Duration { return g.mean * time.Duration(g.waiting+1) / perHost }

// next takes out of the line who is to have a free seat: whose tenant has the fewest; nil: nobody.
func (h *host) next() *waiter {
	first := -1
	for i, w := range h.waiting {
		if h.seats(w.guest) && (first < 0 || w.guest.busy < h.waiting[first].guest.busy) {
			first = i
		}
	}
	if first < 0 {
		return nil
	}
	w := h.waiting[first]
	h.drop(first)
	return &w
}

// drop takes somebody out of the line.
func (h *host) drop(i int) {
	h.waiting[i].guest.waiting--
	h.waiting = slices.Delete(h.waiting, i, i+1)
}

// at is where in the line somebody stands; -1: nowhere.
func (h *host) at(turn chan struct{}) int {
	return slices.IndexFunc(h.waiting, func(w waiter) bool { return w.turn == turn })
}

// putOff is how long somebody stays away for whom there is no seat, each a little longer than the one before; expect is how long a
// conversation lasts where that is not known.
func (g *guest) putOff(now time.Time, expect time.Duration) time.Duration {
	if g.mean > 0 && !g.stuck {
		expect = g.mean
	}
	if from := now.Add(leastPutOff + g.wait()); g.booked.Before(from) {
		g.booked = from
	}
	g.booked = g.booked.Add(expect / perHost)
	if away := g.booked.Sub(now); away < mostPutOff {
		return away
	}
	g.booked = now.Add(mostPutOff)
	return mostPutOff/2 + rand.N(mostPutOff/2)
}

// lasted learns how long a conversation took.
func (g *guest) lasted(took time.Duration) {
	if g.mean == 0 {
		g.mean = took
		return
	}
	g.mean += (took - g.mean) / 8
}

// stand is the holder of a place at a server: seated, or in its line.
type stand struct {
	*places
	name   string
	guest  *guest
	expect time.Duration
	turn   chan struct{} // what it waits for; nil: it is seated
	since  time.Time     // it is seated
	slow   *time.Timer   // takes its place away
	kept   bool          // it has not
}

// enter has the holder of a place take a seat at a server, or stand in its line, which gives the place back. Where the line is too
// long for it the claim is not in hand any more, and away says when to come again.
func (p *places) enter(name string, tenant connectors.TenantID, expect time.Duration) (s *stand, away time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	h := p.hosts[name]
	if h == nil {
		h = &host{guests: map[connectors.TenantID]*guest{}}
		p.hosts[name] = h
	}
	s = &stand{places: p, name: name, guest: h.guest(tenant), expect: expect}
	if h.seats(s.guest) {
		h.busy++
		s.guest.busy++
		return s, 0
	}
	p.giveBack()
	if s.guest.stuck || s.guest.wait() > linePatience {
		p.claims--
		return nil, s.guest.putOff(time.Now(), expect)
	}
	s.turn = make(chan struct{})
	s.guest.waiting++
	h.waiting = append(h.waiting, waiter{s.turn, s.guest})
	return s, 0
}

// sit waits for the seat, and for a place with it; leave gives back both. Where it fails the claim is not in hand any more: with
// [errBusy] it is to be given back, for so long.
func (s *stand) sit(ctx context.Context) (away time.Duration, err error) {
	if s.turn != nil {
		if away, err = s.await(ctx); err != nil {
			return away, err
		}
		if place := s.place(); place != nil {
			select {
			case <-place:
			case <-ctx.Done():
				s.forgo(place)
				return 0, context.Cause(ctx)
			}
		}
	}
	s.since = time.Now()
	s.slow = time.AfterFunc(slowAfter, s.yield)
	return 0, nil
}

// await waits for the seat as long as that makes sense.
func (s *stand) await(ctx context.Context) (away time.Duration, err error) {
	end := time.Now().Add(mostPatience)
	patience := time.NewTimer(linePatience)
	defer patience.Stop()
	for {
		select {
		case <-s.turn:
			return 0, nil
		case <-patience.C:
			more, away, err := s.goAway(end)
			if more <= 0 {
				return away, err
			}
			patience.Reset(more)
		case <-ctx.Done():
			s.quit()
			return 0, context.Cause(ctx)
		}
	}
}

// goAway leaves the line for later, unless the turn came at the same moment, or the line moves: then more is how much longer to wait.
func (s *stand) goAway(end time.Time) (more, away time.Duration, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	h, now := s.hosts[s.name], time.Now()
	i := h.at(s.turn)
	if i < 0 {
		return 0, 0, nil
	}
	if more = min(s.guest.moved.Add(linePatience).Sub(now), end.Sub(now)); more > 0 {
		return more, 0, nil
	}
	h.drop(i)
	s.guest.stuck = s.guest.moved.Add(linePatience).Before(now)
	s.claims--
	return 0, s.guest.putOff(now, s.expect), errBusy
}

// quit leaves the line, or the seat, for good. A seat that came at the same moment is passed on.
func (s *stand) quit() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.claims--
	if s.turn == nil {
		s.giveBack()
	}
	h := s.hosts[s.name]
	if i := h.at(s.turn); i >= 0 {
		h.drop(i)
		return
	}
	s.rise()
}

// forgo gives up waiting for a place, and the seat.
func (s *stand) forgo(turn chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.claims--
	s.rise()
	if i := slices.Index(s.places.waiting, turn); i >= 0 {
		s.places.waiting = slices.Delete(s.places.waiting, i, i+1)
		return
	}
	s.giveBack()
}

// heard ends the conversation. The seat stays taken, and a place that it has still: what was said is in memory.
func (s *stand) heard() {
	s.kept = s.slow.Stop()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.guest.lasted(time.Since(s.since))
}

// leave gives the seat and the place to others. Call it after heard.
func (s *stand) leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.claims--
	s.rise()
	if s.kept {
		s.giveBack()
	}
}

// rise passes a seat on. The caller has the lock.
func (s *stand) rise() {
	h := s.hosts[s.name]
	h.busy--
	s.guest.busy--
	s.guest.stuck, s.guest.moved = false, time.Now()
	if w := h.next(); w != nil {
		h.busy++
		w.guest.busy++
		close(w.turn)
	}
	if h.busy == 0 {
		delete(s.hosts, s.name)
	}
}
