package toolcall

import (
	"sync"
	"time"

	"patchbay/internal/connectors"
)

const (
	openThreshold       = 5 // consecutive failures
	maxFailuresPerAgent = 3 // counted by the server's breaker: it takes two agents to open it
	minOpenTime         = 10 * time.Second
	maxOpenTime         = 2 * time.Minute
)

// CircuitState is the state of a server's breaker.
type CircuitState string

// The states.
const (
	CircuitClosed   CircuitState = "closed"    // calls go through
	CircuitOpen     CircuitState = "open"      // calls are refused until Until
	CircuitHalfOpen CircuitState = "half_open" // one probe goes through, other calls are refused
)

// Circuit is the state of the breakers of a connector's server, in this process. They open on repeated
// connection failures and timeouts; tool errors and JSON-RPC errors do not count. An agent can provoke
// failures, so its failures open its own breaker. The server's breaker opens if several agents fail.
type Circuit struct {
	State    CircuitState
	Failures int       // consecutive
	Opened   time.Time // zero: closed
	Until    time.Time // of an open circuit: when the next call may probe
	Agents   int       // number of agents with a breaker that is not closed; 0: State is for all agents
}

type serverKey struct {
	tenant    connectors.TenantID
	connector connectors.ConnectorID
}

type breakerKey struct {
	serverKey
	agent connectors.AgentID // zero: the breaker for all agents
}

// breakerSet holds the breakers of servers with a failed last call. The zero value works.
type breakerSet struct {
	mu    sync.Mutex
	byKey map[breakerKey]*breaker // guarded by mu
}

type breaker struct {
	failures    map[connectors.AgentID]int
	lastFailure time.Time
	openFor     time.Duration // 0: closed
	until       time.Time
	opened      time.Time
	probing     bool               // a probe is in flight
	lastProber  connectors.AgentID // agent of the last failed probe, in the breaker for all agents; else zero
}

type callPermit struct {
	server       serverKey
	agent        connectors.AgentID
	began        time.Time
	probesAgent  bool // the call probes the agent's breaker
	probesServer bool // the call probes the server's breaker
}

// countFailures sums the consecutive failures, at most maxPerAgent of each agent.
func (b *breaker) countFailures(maxPerAgent int) (n int) {
	for _, failures := range b.failures {
		n += min(failures, maxPerAgent)
	}
	return n
}

func (b *breaker) toCircuit(f breakerKey, now time.Time) Circuit {
	c := Circuit{State: CircuitClosed, Failures: b.countFailures(unlimitedFailures)}
	switch {
	case b.openFor == 0:
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

const unlimitedFailures = 1 << 30

// mergeWorse returns the worse of two circuits. One for all agents outranks one for a single agent.
func (c Circuit) mergeWorse(d Circuit) Circuit {
	if c.State != CircuitClosed && d.State != CircuitClosed && c.Agents > 0 && d.Agents > 0 {
		c.Agents += d.Agents
		d.Agents = c.Agents
	}
	if d.severityRank() > c.severityRank() || d.severityRank() == c.severityRank() && d.Failures > c.Failures {
		return d
	}
	return c
}

func (c Circuit) severityRank() (rank int) {
	rank = map[CircuitState]int{CircuitClosed: 0, CircuitHalfOpen: 1, CircuitOpen: 2}[c.State]
	if rank > 0 && c.Agents == 0 {
		rank += 2
	}
	return rank
}

// Instance is the id of this process. Each process has breakers of its own.
func (c *Executor) Instance() connectors.InstanceID { return c.o.Instance }

// Circuit returns the state of a connector's breakers.
func (c *Executor) Circuit(t connectors.TenantID, id connectors.ConnectorID) Circuit {
	return c.sender.breakers.serverCircuit(serverKey{t, id}, c.o.Now())
}

func (s *breakerSet) serverCircuit(server serverKey, now time.Time) Circuit {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := Circuit{State: CircuitClosed}
	for f, b := range s.byKey {
		if f.serverKey == server {
			c = c.mergeWorse(b.toCircuit(f, now))
		}
	}
	return c
}

// retryDelay is how long the breaker refuses an agent's calls; 0: it does not. After a failed probe other
// agents go first, so that one agent cannot keep the server's breaker open. b may be nil. The caller holds mu.
func (b *breaker) retryDelay(agent connectors.AgentID, now time.Time) (wait time.Duration) {
	switch {
	case b == nil || b.openFor == 0:
		return 0
	case now.Before(b.until):
		return b.until.Sub(now)
	case b.probing:
		return time.Second
	case b.lastProber == agent && now.Before(b.until.Add(b.openFor)):
		return b.until.Add(b.openFor).Sub(now)
	}
	return 0
}

// retryDelay is how long an agent's calls to a server are refused; 0: they are not.
func (s *breakerSet) retryDelay(server serverKey, agent connectors.AgentID, now time.Time) (wait time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return max(s.byKey[breakerKey{serverKey: server}].retryDelay(agent, now), s.byKey[breakerKey{server, agent}].retryDelay(agent, now))
}

// acquirePermit lets a call through, or returns how long it must wait. Each permit needs one recordSignal.
func (s *breakerSet) acquirePermit(server serverKey, agent connectors.AgentID, now time.Time) (p callPermit, wait time.Duration, ok bool) {
	p = callPermit{server: server, agent: agent, began: now}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.byKey) == 0 {
		return p, 0, true
	}
	ofServer, ofAgent := s.byKey[breakerKey{serverKey: server}], s.byKey[breakerKey{server, agent}]
	if wait = max(ofServer.retryDelay(agent, now), ofAgent.retryDelay(agent, now)); wait > 0 {
		return p, wait, false
	}
	p.probesServer, p.probesAgent = ofServer.startProbe(), ofAgent.startProbe()
	return p, 0, true
}

// startProbe makes the call the probe of a breaker that is not closed.
func (b *breaker) startProbe() bool {
	if b == nil || b.openFor == 0 {
		return false
	}
	b.probing = true
	return true
}

type healthSignal int

const (
	signalAnswered healthSignal = iota // with a result or an error of its own
	signalFailed                       // not reached, or the connection broke
	signalTimeout                      // no response in time
	signalNone                         // the call was cancelled
)

func (s *breakerSet) recordSignal(p callPermit, v healthSignal, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if v == signalAnswered {
		if len(s.byKey) > 0 {
			delete(s.byKey, breakerKey{serverKey: p.server})
			delete(s.byKey, breakerKey{p.server, p.agent})
		}
		return
	}
	s.updateBreaker(breakerKey{serverKey: p.server}, p, p.probesServer, v, now)
	s.updateBreaker(breakerKey{p.server, p.agent}, p, p.probesAgent, v, now)
}

// updateBreaker records a failed or cancelled call in one breaker. The caller holds mu.
func (s *breakerSet) updateBreaker(f breakerKey, p callPermit, wasProbe bool, v healthSignal, now time.Time) {
	b := s.byKey[f]
	if b == nil {
		if v == signalNone {
			return
		}
		b = s.addBreaker(f, now)
	}
	if wasProbe {
		b.probing = false
	}
	if v == signalNone {
		return
	}
	maxPerAgent := unlimitedFailures
	if f.agent == (connectors.AgentID{}) {
		maxPerAgent = maxFailuresPerAgent
		if wasProbe {
			b.lastProber = p.agent
		}
	}
	if v == signalTimeout || wasProbe || !p.began.Before(b.lastFailure) {
		b.failures[p.agent]++
		b.lastFailure = now
	}
	b.openIfDue(wasProbe, maxPerAgent, now)
}

// addBreaker adds a breaker, and beyond maxBuckets removes those without a recent failure. The caller holds mu.
func (s *breakerSet) addBreaker(f breakerKey, now time.Time) *breaker {
	if s.byKey == nil {
		s.byKey = map[breakerKey]*breaker{}
	}
	if len(s.byKey) >= maxBuckets {
		for old, b := range s.byKey {
			if now.Sub(b.lastFailure) > maxOpenTime {
				delete(s.byKey, old)
			}
		}
	}
	b := &breaker{failures: map[connectors.AgentID]int{}}
	s.byKey[f] = b
	return b
}

// openIfDue opens the breaker at the threshold. A connection that breaks under concurrent calls is one failure;
// each timeout is one.
func (b *breaker) openIfDue(wasProbe bool, maxPerAgent int, now time.Time) {
	switch {
	case wasProbe:
		b.openFor = min(2*b.openFor, maxOpenTime)
	case b.openFor == 0 && b.countFailures(maxPerAgent) >= openThreshold:
		b.openFor, b.opened = minOpenTime, now
	default: // the call was in flight when the breaker opened
		return
	}
	b.until = now.Add(b.openFor)
}

func (s *breakerSet) countStates(now time.Time) map[CircuitState]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	circuits := map[serverKey]Circuit{}
	for f, b := range s.byKey {
		c, ok := circuits[f.serverKey]
		if !ok {
			c.State = CircuitClosed
		}
		circuits[f.serverKey] = c.mergeWorse(b.toCircuit(f, now))
	}
	n := map[CircuitState]int{CircuitClosed: 0, CircuitOpen: 0, CircuitHalfOpen: 0}
	for _, c := range circuits {
		n[c.State]++
	}
	return n
}
