package toolcall

import (
	"sync"
	"time"

	"patchbay/internal/connectors"
)

const (
	opensAfter  = 5 // failures in a row
	mostOfOne   = 3 // of one agent, towards the breaker of all: it takes two to open it
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

// Circuit is how the breakers of one connector's server stand, in this process. They open when the server cannot be reached or does not
// answer, time and again; that a tool fails, or that the server refuses a request, is an answer. Since an agent can make a server fail by
// what it asks, its failures open its own breaker; that of all opens where several agents meet them.
type Circuit struct {
	State    CircuitState
	Failures int       // in a row
	Opened   time.Time // where it is not closed: since when
	Until    time.Time // where it is open: when the next call may try
	Agents   int       // for so many agents alone it is not closed; 0: what State says is for all
}

// server names an upstream.
type server struct {
	tenant    connectors.TenantID
	connector connectors.ConnectorID
}

// fuse names a breaker.
type fuse struct {
	server
	agent connectors.AgentID // zero: that of all agents
}

// breakers are those of all servers that failed last time; the others need none. The zero value works.
type breakers struct {
	mu sync.Mutex
	of map[fuse]*breaker // guarded by mu
}

type breaker struct {
	failures map[connectors.AgentID]int
	counted  time.Time     // when the last of them was
	rest     time.Duration // 0: it is closed
	until    time.Time
	opened   time.Time
	trying   bool               // a call is under way to see
	tried    connectors.AgentID // whose call was that failed last; zero: none, or of no matter
}

// pass is what lets one call through.
type pass struct {
	at       server
	agent    connectors.AgentID
	began    time.Time
	triesOwn bool // to see whether the server is back, for the agent alone
	triesAll bool // likewise, for all
}

// counts is how many failures there were in a row, of those that count.
func (b *breaker) counts(most int) (n int) {
	for _, failures := range b.failures {
		n += min(failures, most)
	}
	return n
}

func (b *breaker) circuit(f fuse, now time.Time) Circuit {
	c := Circuit{State: CircuitClosed, Failures: b.counts(longestRow)}
	switch {
	case b.rest == 0:
		return c
	case now.Before(b.until):
		c.State, c.Until = CircuitOpen, b.until
	default:
		c.State = CircuitHalfOpen
	}
	c.Opened = b.opened
	if f.agent != (connectors.AgentID{}) {
		c.Agents = 1
	}
	return c
}

// longestRow is more than anybody counts.
const longestRow = 1 << 30

// and is how two breakers of a server stand together: what holds for all says more than what holds for one agent.
func (c Circuit) and(d Circuit) Circuit {
	if c.State != CircuitClosed && d.State != CircuitClosed && c.Agents > 0 && d.Agents > 0 {
		c.Agents += d.Agents
		d.Agents = c.Agents
	}
	if d.says() > c.says() || d.says() == c.says() && d.Failures > c.Failures {
		return d
	}
	return c
}

func (c Circuit) says() (much int) {
	much = map[CircuitState]int{CircuitClosed: 0, CircuitHalfOpen: 1, CircuitOpen: 2}[c.State]
	if much > 0 && c.Agents == 0 {
		much += 2
	}
	return much
}

// Instance is this process, whose breakers Circuit shows: each process has its own.
func (c *Caller) Instance() connectors.InstanceID { return c.o.Instance }

// Circuit shows the breakers of a connector's server.
func (c *Caller) Circuit(t connectors.TenantID, id connectors.ConnectorID) Circuit {
	return c.breakers.circuit(server{t, id}, c.o.Now())
}

func (s *breakers) circuit(at server, now time.Time) Circuit {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := Circuit{State: CircuitClosed}
	for f, b := range s.of {
		if f.server == at {
			c = c.and(b.circuit(f, now))
		}
	}
	return c
}

// refuses tells whether a breaker lets no call of an agent through, and for how long. A call that came back without success gives others
// the turn: one agent alone does not keep the breaker of all open. b may be nil. mu is held.
func (b *breaker) refuses(agent connectors.AgentID, now time.Time) (wait time.Duration) {
	switch {
	case b == nil || b.rest == 0:
		return 0
	case now.Before(b.until):
		return b.until.Sub(now)
	case b.trying:
		return time.Second
	case b.tried == agent && now.Before(b.until.Add(b.rest)):
		return b.until.Add(b.rest).Sub(now)
	}
	return 0
}

// refuses tells for how long no call of an agent goes to a server; 0: one may.
func (s *breakers) refuses(at server, agent connectors.AgentID, now time.Time) (wait time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return max(s.of[fuse{server: at}].refuses(agent, now), s.of[fuse{at, agent}].refuses(agent, now))
}

// enter lets a call through, or tells how long the server is left alone. Each pass is to be settled.
func (s *breakers) enter(at server, agent connectors.AgentID, now time.Time) (p pass, wait time.Duration, ok bool) {
	p = pass{at: at, agent: agent, began: now}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.of) == 0 {
		return p, 0, true
	}
	all, own := s.of[fuse{server: at}], s.of[fuse{at, agent}]
	if wait = max(all.refuses(agent, now), own.refuses(agent, now)); wait > 0 {
		return p, wait, false
	}
	p.triesAll, p.triesOwn = all.try(), own.try()
	return p, 0, true
}

// try makes the call that is let through the one that sees whether the server is back, if the breaker is not closed.
func (b *breaker) try() bool {
	if b == nil || b.rest == 0 {
		return false
	}
	b.trying = true
	return true
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
	if v == answered {
		if len(s.of) > 0 {
			delete(s.of, fuse{server: p.at})
			delete(s.of, fuse{p.at, p.agent})
		}
		return
	}
	s.note(fuse{server: p.at}, p, p.triesAll, v, now)
	s.note(fuse{p.at, p.agent}, p, p.triesOwn, v, now)
}

// note has one breaker know that there was no answer. mu is held.
func (s *breakers) note(f fuse, p pass, tries bool, v verdict, now time.Time) {
	b := s.of[f]
	if b == nil {
		if v == undecided {
			return
		}
		b = s.add(f, now)
	}
	if tries {
		b.trying = false
	}
	if v == undecided {
		return
	}
	most := longestRow
	if f.agent == (connectors.AgentID{}) {
		most = mostOfOne
		if tries {
			b.tried = p.agent
		}
	}
	if v == silent || tries || !p.began.Before(b.counted) {
		b.failures[p.agent]++
		b.counted = now
	}
	b.open(tries, most, now)
}

// add makes a breaker. Where there are too many, those go whose server nobody calls. mu is held.
func (s *breakers) add(f fuse, now time.Time) *breaker {
	if s.of == nil {
		s.of = map[fuse]*breaker{}
	}
	if len(s.of) >= mostBuckets {
		for old, b := range s.of {
			if now.Sub(b.counted) > longestRest {
				delete(s.of, old)
			}
		}
	}
	b := &breaker{failures: map[connectors.AgentID]int{}}
	s.of[f] = b
	return b
}

// open opens the breaker if it is time. What many calls meet that are under way together, as a connection that breaks, is one failure; that
// there is no answer is one for each.
func (b *breaker) open(tries bool, most int, now time.Time) {
	switch {
	case tries:
		b.rest = min(2*b.rest, longestRest)
	case b.rest == 0 && b.counts(most) >= opensAfter:
		b.rest, b.opened = firstRest, now
	default: // one that was under way when it opened
		return
	}
	b.until = now.Add(b.rest)
}

// states counts the servers by what their breakers do.
func (s *breakers) states(now time.Time) map[CircuitState]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	circuits := map[server]Circuit{}
	for f, b := range s.of {
		c, there := circuits[f.server]
		if !there {
			c.State = CircuitClosed
		}
		circuits[f.server] = c.and(b.circuit(f, now))
	}
	n := map[CircuitState]int{CircuitClosed: 0, CircuitOpen: 0, CircuitHalfOpen: 0}
	for _, c := range circuits {
		n[c.State]++
	}
	return n
}
