package toolcall

import (
	"testing"
	"time"

	"patchbay/internal/connectors"
)

func TestWhatManyCallsMeetTogetherIsOneFailure(t *testing.T) {
	t.Parallel()
	var s breakers
	at, one, now := server{}, anAgent(1), time.Now()
	wave := func(v verdict) {
		t.Helper()
		var passes []pass
		for range 20 {
			p, _, ok := s.enter(at, one, now)
			if !ok {
				t.Fatal("it is open")
			}
			passes = append(passes, p)
		}
		now = now.Add(time.Millisecond)
		for _, p := range passes {
			s.settle(p, v, now)
		}
		now = now.Add(time.Millisecond)
	}
	for i := 1; i < opensAfter; i++ {
		if wave(failed); s.circuit(at, now).Failures != i {
			t.Fatalf("circuit = %+v", s.circuit(at, now))
		}
	}
	if wave(failed); s.circuit(at, now).State != CircuitOpen {
		t.Errorf("circuit = %+v", s.circuit(at, now))
	}
	s, now = breakers{}, now.Add(time.Hour)
	if wave(silent); s.circuit(at, now).State != CircuitOpen {
		t.Errorf("circuit = %+v", s.circuit(at, now))
	}
}

func TestOneCallTriesAndWhoLeavesDecidesNothing(t *testing.T) {
	t.Parallel()
	var s breakers
	at, one, now := server{}, anAgent(1), time.Now()
	old, _, _ := s.enter(at, one, now)
	for range opensAfter {
		p, _, _ := s.enter(at, one, now)
		now = now.Add(time.Millisecond)
		s.settle(p, failed, now)
	}
	now = now.Add(firstRest)
	probe, _, ok := s.enter(at, one, now)
	if !ok {
		t.Fatal("nobody may try")
	}
	s.settle(old, undecided, now) // it is not the one that tries
	if _, _, ok := s.enter(at, one, now); ok {
		t.Error("two try")
	}
	s.settle(probe, undecided, now)
	if probe, _, ok = s.enter(at, one, now); !ok {
		t.Fatal("nobody may try after the one that left")
	}
	s.settle(probe, failed, now)
	if c := s.circuit(at, now); c.State != CircuitOpen || c.Until.Sub(now) != 2*firstRest {
		t.Errorf("circuit = %+v", c)
	}
}

func anAgent(n byte) (id connectors.AgentID) {
	id.UUID[0] = n
	return id
}

func TestOneAgentOpensNoBreakerOfTheOthers(t *testing.T) {
	t.Parallel()
	var s breakers
	at, now := server{}, time.Now()
	call := func(agent connectors.AgentID, v verdict) (let bool) {
		p, _, ok := s.enter(at, agent, now)
		now = now.Add(time.Millisecond)
		if ok {
			s.settle(p, v, now)
		}
		return ok
	}
	bad, good, third := anAgent(1), anAgent(2), anAgent(3)
	for range 100 {
		call(bad, failed)
		call(bad, silent)
	}
	if call(bad, failed) || s.refuses(at, good, now) != 0 {
		t.Errorf("circuit = %+v, the other waits %s", s.circuit(at, now), s.refuses(at, good, now))
	}
	if c := s.circuit(at, now); c.State != CircuitOpen || c.Agents != 1 || c.Failures != opensAfter {
		t.Errorf("circuit = %+v", c)
	}
	call(good, failed)
	call(good, failed) // by now it is the server
	if c := s.circuit(at, now); c.State != CircuitOpen || c.Agents != 0 || s.refuses(at, third, now) == 0 {
		t.Errorf("circuit = %+v", c)
	}

	now = now.Add(firstRest)
	if !call(bad, failed) { // it is the first to try
		t.Fatal("nobody tries")
	}
	now = now.Add(2 * firstRest)
	if call(bad, failed) {
		t.Error("the one that failed last tries again before the others")
	}
	if !call(third, answered) || s.circuit(at, now).Agents != 1 || s.refuses(at, good, now) != 0 {
		t.Errorf("circuit = %+v", s.circuit(at, now))
	}
}
