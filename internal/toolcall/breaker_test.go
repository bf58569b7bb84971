package toolcall

import (
	"testing"
	"time"

	"patchbay/internal/connectors"
)

func TestWhatManyCallsMeetTogetherIsOneFailure(t *testing.T) {
	t.Parallel()
	var s breakers
	at, now := server{connector: connectors.ConnectorID{}}, time.Now()
	wave := func(v verdict) {
		t.Helper()
		var passes []pass
		for range 20 {
			p, _, ok := s.enter(at, now)
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
	at, now := server{}, time.Now()
	old, _, _ := s.enter(at, now)
	for range opensAfter {
		p, _, _ := s.enter(at, now)
		now = now.Add(time.Millisecond)
		s.settle(p, failed, now)
	}
	now = now.Add(firstRest)
	probe, _, ok := s.enter(at, now)
	if !ok {
		t.Fatal("nobody may try")
	}
	s.settle(old, undecided, now) // it is not the one that tries
	if _, _, ok := s.enter(at, now); ok {
		t.Error("two try")
	}
	s.settle(probe, undecided, now)
	if probe, _, ok = s.enter(at, now); !ok {
		t.Fatal("nobody may try after the one that left")
	}
	s.settle(probe, failed, now)
	if c := s.circuit(at, now); c.State != CircuitOpen || c.Until.Sub(now) != 2*firstRest {
		t.Errorf("circuit = %+v", c)
	}
}
