package toolcall

import (
	"sync"
	"time"

	"patchbay/internal/connectors"
)

const (
	opensAfter  = 5 // failures in a row
	firstRest   = 10 * time.Second
	longestRest = 2 * time.Minute
)

// CircuitState is what the breaker of a server does.
type CircuitState string

// The states.
const (
	CircuitClosed   CircuitState = "closed"    // calls go through
	CircuitOpen     CircuitState = "open"      // calls are refused until Until
	CircuitHalfOpen CircuitState = "half_open" // one call tries, the others are refused
)

// Circuit is the breaker of one connector's server, in this process. It opens when the server cannot be reached or does not answer, time
// and again; that a tool fails, or that the server refuses a request, is an answer.
type Circuit struct {
	State    CircuitState
	Failures int       // in a row
	Until    time.Time // where it is open: when the next call may try
}

// server names an upstream.
type server struct {
	tenant    connectors.TenantID
	connector connectors.ConnectorID
}

// breakers are those of all servers that failed last time; the others need none. The zero value works.
type breakers struct {
	mu sync.Mutex
	of map[server]*breaker // guarded by mu
}

type breaker struct {
	failures int
	counted  time.Time     // when the last of them was
	rest     time.Duration // 0: it is closed
	until    time.Time
	trying   bool // a call is under way to see
}

// pass is what lets one call through.
type pass struct {
	at    server
	began time.Time
	tries bool // to see whether the server is back
}

func (b *breaker) circuit(now time.Time) Circuit {
	c := Circuit{State: CircuitClosed, Failures: b.failures}
	switch {
	case b.rest == 0:
	case now.Before(b.until):
		c.State, c.Until = CircuitOpen, b.until
	default:
		c.State = CircuitHalfOpen
	}
	return c
}

// Circuit shows the breaker of a connector's server.
func (c *Caller) Circuit(t connectors.TenantID, id connectors.ConnectorID) Circuit {
	return c.breakers.circuit(server{t, id}, c.o.Now())
}

func (s *breakers) circuit(at server, now time.Time) Circuit {
	s.mu.Lock()
	defer s.mu.Unlock()
	if b := s.of[at]; b != nil {
		return b.circuit(now)
	}
	return Circuit{State: CircuitClosed}
}

// enter lets a call through, or tells how long the server is left alone. Each pass is to be settled.
func (s *breakers) enter(at server, now time.Time) (p pass, wait time.Duration, ok bool) {
	p = pass{at: at, began: now}
	s.mu.Lock()
	defer s.mu.Unlock()
	b := s.of[at]
	switch {
	case b == nil || b.rest == 0:
		return p, 0, true
	case now.Before(b.until):
		return p, b.until.Sub(now), false
	case b.trying:
		return p, time.Second, false
	}
	b.trying, p.tries = true, true
	return p, 0, true
}

// verdict is what a call tells of its server.
type verdict int

const (
	answered  verdict = iota // whatever it said
	failed                   // it was not reached, or broke off
	silent                   // it did not answer in time
	undecided                // the caller left before
)

// settle notes what came of a call that was let through.
func (s *breakers) settle(p pass, v verdict, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b := s.of[p.at]
	if v == answered {
		if b != nil {
			delete(s.of, p.at)
		}
		return
	}
	if b == nil {
		if v == undecided {
			return
		}
		if s.of == nil {
			s.of = map[server]*breaker{}
		}
		b = &breaker{}
		s.of[p.at] = b
	}
	if p.tries {
		b.trying = false
	}
	if v != undecided {
		b.fail(p, v, now)
	}
}

// fail counts a failure. What many calls meet that are under way together, as a connection that breaks, is one; that there is no answer
// is one for each.
func (b *breaker) fail(p pass, v verdict, now time.Time) {
	if v == silent || p.tries || !p.began.Before(b.counted) {
		b.failures++
		b.counted = now
	}
	switch {
	case p.tries:
		b.rest = min(2*b.rest, longestRest)
	case b.rest == 0 && b.failures >= opensAfter:
		b.rest = firstRest
	default: // one that was under way when it opened
		return
	}
	b.until = now.Add(b.rest)
}

// states counts the breakers by what they do.
func (s *breakers) states(now time.Time) map[CircuitState]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := map[CircuitState]int{CircuitClosed: 0, CircuitOpen: 0, CircuitHalfOpen: 0}
	for _, b := range s.of {
		n[b.circuit(now).State]++
	}
	return n
}
