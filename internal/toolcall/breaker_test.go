package toolcall

import (
	"testing"
	"time"

	"patchbay/internal/connectors"
)

func TestBreaker_ConcurrentFailuresCountOnce(t *testing.T) {
	t.Parallel()
	var s breakerSet
	key, agent, now := serverKey{}, newAgentID(1), time.Now()
	wave := func(v healthSignal) {
		t.Helper()
		var permits []callPermit
		for range 20 {
			p, _, ok := s.acquirePermit(key, agent, now)
			if !ok {
				t.Fatal("it is open")
			}
			permits = append(permits, p)
		}
		now = now.Add(time.Millisecond)
		for _, p := range permits {
			s.recordSignal(p, v, now)
		}
		now = now.Add(time.Millisecond)
	}
	for i := 1; i < openThreshold; i++ {
		if wave(signalFailed); s.serverCircuit(key, now).Failures != i {
			t.Fatalf("circuit = %+v", s.serverCircuit(key, now))
		}
	}
	if wave(signalFailed); s.serverCircuit(key, now).State != CircuitOpen {
		t.Errorf("circuit = %+v", s.serverCircuit(key, now))
	}
	s, now = breakerSet{}, now.Add(time.Hour)
	if wave(signalTimeout); s.serverCircuit(key, now).State != CircuitOpen {
		t.Errorf("circuit = %+v", s.serverCircuit(key, now))
	}
}

func TestBreaker_OneProbeAndCancelledProbeIsNeutral(t *testing.T) {
	t.Parallel()
	var s breakerSet
	key, agent, now := serverKey{}, newAgentID(1), time.Now()
	old, _, _ := s.acquirePermit(key, agent, now)
	for range openThreshold {
		p, _, _ := s.acquirePermit(key, agent, now)
		now = now.Add(time.Millisecond)
		s.recordSignal(p, signalFailed, now)
	}
	now = now.Add(minOpenTime)
	probe, _, ok := s.acquirePermit(key, agent, now)
	if !ok {
		t.Fatal("nobody may try")
	}
	s.recordSignal(old, signalNone, now) // not the probe
	if _, _, ok := s.acquirePermit(key, agent, now); ok {
		t.Error("two try")
	}
	s.recordSignal(probe, signalNone, now)
	if probe, _, ok = s.acquirePermit(key, agent, now); !ok {
		t.Fatal("nobody may try after the one that left")
	}
	s.recordSignal(probe, signalFailed, now)
	if c := s.serverCircuit(key, now); c.State != CircuitOpen || c.Until.Sub(now) != 2*minOpenTime {
		t.Errorf("circuit = %+v", c)
	}
}

func newAgentID(n byte) (id connectors.AgentID) {
	id.UUID[0] = n
	return id
}

func TestBreaker_OneAgentDoesNotOpenForOthers(t *testing.T) {
	t.Parallel()
	var s breakerSet
	key, now := serverKey{}, time.Now()
	call := func(agent connectors.AgentID, v healthSignal) (let bool) {
		p, _, ok := s.acquirePermit(key, agent, now)
		now = now.Add(time.Millisecond)
		if ok {
			s.recordSignal(p, v, now)
		}
		return ok
	}
	bad, healthy, third := newAgentID(1), newAgentID(2), newAgentID(3)
	for range 100 {
		call(bad, signalFailed)
		call(bad, signalTimeout)
	}
	if call(bad, signalFailed) || s.retryDelay(key, healthy, now) != 0 {
		t.Errorf("circuit = %+v, the other waits %s", s.serverCircuit(key, now), s.retryDelay(key, healthy, now))
	}
	if c := s.serverCircuit(key, now); c.State != CircuitOpen || c.Agents != 1 || c.Failures != openThreshold {
		t.Errorf("circuit = %+v", c)
	}
	call(healthy, signalFailed)
	call(healthy, signalFailed) // a second agent fails
	if c := s.serverCircuit(key, now); c.State != CircuitOpen || c.Agents != 0 || s.retryDelay(key, third, now) == 0 {
		t.Errorf("circuit = %+v", c)
	}

	now = now.Add(minOpenTime)
	if !call(bad, signalFailed) { // the first probe
		t.Fatal("nobody tries")
	}
	now = now.Add(2 * minOpenTime)
	if call(bad, signalFailed) {
		t.Error("the one that failed last tries again before the others")
	}
	if !call(third, signalAnswered) || s.serverCircuit(key, now).Agents != 1 || s.retryDelay(key, healthy, now) != 0 {
		t.Errorf("circuit = %+v", s.serverCircuit(key, now))
	}
}
