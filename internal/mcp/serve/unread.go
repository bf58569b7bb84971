package serve

import (
	"errors"
	"net/http"
	"sync"
	"time"
)

// shelf is where long answers stand until their clients have taken them. What all clients together have not taken yet is bounded, and so
// is what one caller has not: where it is too much, the answer goes that nobody has taken anything of for the longest time, of whoever has the
// most. So it is the ones who do not read that lose.
type shelf struct {
	most     int64         // bytes of all callers
	mostEach int64         // bytes of one
	stall    time.Duration // how long a client may take nothing

	mu   sync.Mutex // guards what follows
	size int64
	of   map[string]*pile // by who is charged
}

// pile is what one caller has not taken.
type pile struct {
	size    int64
	parcels map[*parcel]struct{}
}

// parcel is one long answer on its way.
type parcel struct {
	on      *shelf
	payer   string
	size    int64
	control *http.ResponseController
	until   time.Time // when all of it must have been taken

	moved time.Time // when something of it was taken last; guarded by shelf.mu, as what follows
	gone  bool      // from the shelf
}

// errUnread says that an answer was given up before its client had taken it.
var errUnread = errors.New("the client does not read its answers")

// put takes an answer of so many bytes, for which others may have to go.
func (s *shelf) put(payer string, size int, control *http.ResponseController) *parcel {
	now := time.Now()
	p := &parcel{on: s, payer: payer, size: int64(size), control: control, moved: now, until: now.Add(s.stall + slowest(int64(size)))}
	s.mu.Lock()
	defer s.mu.Unlock()
	mine := s.of[payer]
	if mine == nil {
		mine = &pile{parcels: map[*parcel]struct{}{}}
		if s.of == nil {
			s.of = map[string]*pile{}
		}
		s.of[payer] = mine
	}
	for mine.size > 0 && mine.size+p.size > s.mostEach {
		s.cut(mine)
	}
	for s.size > 0 && s.size+p.size > s.most {
		s.cut(s.largest())
	}
	mine.parcels[p] = struct{}{}
	mine.size += p.size
	s.of[payer] = mine // it may have been emptied
	s.size += p.size
	return p
}

// largest is the pile of whoever has the most. mu is held, and the shelf is not empty.
func (s *shelf) largest() (most *pile) {
	for _, p := range s.of {
		if most == nil || p.size > most.size {
			most = p
		}
	}
	return most
}

// cut gives up the answer of a pile that stands still for the longest time. mu is held, and the pile is not empty.
func (s *shelf) cut(of *pile) {
	var oldest *parcel
	for p := range of.parcels {
		if oldest == nil || p.moved.Before(oldest.moved) {
			oldest = p
		}
	}
	s.take(oldest)
	_ = oldest.control.SetWriteDeadline(past) // whoever writes it wakes up
}

// past is a deadline that is over.
var past = time.Unix(1, 0)

// take takes an answer off, if it is there. mu is held.
func (s *shelf) take(p *parcel) {
	if p.gone {
		return
	}
	p.gone = true
	s.size -= p.size
	mine := s.of[p.payer]
	delete(mine.parcels, p)
	if mine.size -= p.size; len(mine.parcels) == 0 {
		delete(s.of, p.payer)
	}
}

// next gives the time for the next piece: a while for itself, but not more than there is for all.
func (p *parcel) next() error {
	now := time.Now()
	p.on.mu.Lock()
	defer p.on.mu.Unlock()
	if p.gone {
		return errUnread
	}
	p.moved = now
	until := now.Add(p.on.stall)
	if p.until.Before(until) {
		until = p.until
	}
	_ = p.control.SetWriteDeadline(until)
	return nil
}

// done ends it. The next request on the connection may be answered by somebody who sets no deadline.
func (p *parcel) done() {
	p.on.mu.Lock()
	defer p.on.mu.Unlock()
	p.on.take(p)
	_ = p.control.SetWriteDeadline(time.Time{})
}
