package gateway

import (
	"net/netip"
	"sync"
	"time"

	"patchbay/internal/middleware"
)

// strangers are the addresses from which tokens came that nobody knows. Each such token costs a query, so that an address may send so many a
// minute, and then waits. Tokens that are in memory are served from there, whatever else comes from their address. The zero value works.
type strangers struct {
	mu sync.Mutex
	of map[netip.Addr]stranger // guarded by mu
}

type stranger struct {
	left float64 // tokens that it may still try
	at   time.Time
}

const (
	mayTry        = 60 // at once, and each minute
	mostStrangers = 100_000
)

// wait is how long an address has to wait until it may try another token; 0: it may.
func (s *strangers) wait(from netip.Addr, now time.Time) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	one, there := s.of[middleware.Network(from)]
	if !there {
		return 0
	}
	if left := one.by(now); left < 1 {
		return time.Duration((1 - left) * float64(time.Minute) / mayTry)
	}
	return 0
}

// by is how many tokens it may try at a time.
func (s stranger) by(now time.Time) float64 {
	return min(mayTry, s.left+now.Sub(s.at).Minutes()*mayTry)
}

// note counts a token that was none.
func (s *strangers) note(from netip.Addr, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	from = middleware.Network(from)
	one, there := s.of[from]
	if !there {
		one = stranger{left: mayTry, at: now}
		s.makeRoom(now)
	}
	s.of[from] = stranger{left: one.by(now) - 1, at: now}
}

// makeRoom forgets who may try as often as anybody, where there are too many; and whoever it happens to be, where that is not enough. mu is
// held.
func (s *strangers) makeRoom(now time.Time) {
	if s.of == nil {
		s.of = map[netip.Addr]stranger{}
	}
	if len(s.of) < mostStrangers {
		return
	}
	for from, one := range s.of {
		if one.by(now) >= mayTry {
			delete(s.of, from)
		}
	}
	for from := range s.of {
		if len(s.of) < mostStrangers {
			return
		}
		delete(s.of, from)
	}
}

func tooManyStrangers(wait time.Duration) error {
	return middleware.TooSoon(wait, "Too many tokens that nobody knows came from this address. Check the token, and try again in a moment.")
}
