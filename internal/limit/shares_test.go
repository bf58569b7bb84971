package limit_test

import (
	"testing"
	"time"

	"patchbay/internal/limit"
)

func TestShares_TakesFromAllOrNone(t *testing.T) {
	t.Parallel()
	s := limit.Shares[string]{BurstSeconds: 2}
	now := time.Now()
	all, one := limit.Share[string]{Key: "all", PerSecond: 10}, limit.Share[string]{Key: "one", PerSecond: 1}
	for range 2 {
		if wait := s.Take(now, 1, 1, all, one); wait != 0 {
			t.Fatalf("wait: %v", wait)
		}
	}
	if wait := s.Take(now, 1, 1, all, one); wait != time.Second {
		t.Errorf("wait: %v, want 1 s", wait)
	}
	for i := range 18 { // the refused operation has taken nothing
		if wait := s.Take(now, 1, 1, all); wait != 0 {
			t.Fatalf("%d: wait: %v", i, wait)
		}
	}
	if wait := s.Take(now, 1, 1, all); wait != time.Second/10 {
		t.Errorf("wait: %v, want 100 ms", wait)
	}
	if wait := s.Take(now.Add(time.Second), 1, 1, all, one); wait != 0 {
		t.Errorf("after a second: wait: %v", wait)
	}
}

func TestShares_OverdraftDelaysTheNext(t *testing.T) {
	t.Parallel()
	s := limit.Shares[string]{BurstSeconds: 4}
	now := time.Now()
	share := limit.Share[string]{Key: "a", PerSecond: 1}
	if wait := s.Take(now, 0, 10, share); wait != 0 {
		t.Fatalf("wait: %v", wait)
	}
	if wait := s.Take(now, 0, 1, share); wait != 7*time.Second { // 6 below zero, and one token
		t.Errorf("wait: %v, want 7 s", wait)
	}
	if wait := s.Take(now.Add(6*time.Second), 0, 1, share); wait != 0 {
		t.Errorf("at zero: wait: %v", wait)
	}
}

func TestShares_FollowTheRateOfAKey(t *testing.T) {
	t.Parallel()
	s := limit.Shares[string]{BurstSeconds: 1}
	now := time.Now()
	s.Take(now, 1, 100, limit.Share[string]{Key: "a", PerSecond: 100})
	if wait := s.Take(now, 1, 1, limit.Share[string]{Key: "a", PerSecond: 2}); wait != time.Second/2 {
		t.Errorf("wait: %v, want 500 ms", wait)
	}
	s.Take(now.Add(time.Hour), 1, 1, limit.Share[string]{Key: "a", PerSecond: 2})
	if wait := s.Take(now.Add(time.Hour), 1, 1, limit.Share[string]{Key: "a", PerSecond: 2}); wait != 0 {
		t.Errorf("the second of two tokens: wait: %v", wait)
	}
}

func TestShares_MemoryIsBounded(t *testing.T) {
	t.Parallel()
	s := limit.Shares[int]{BurstSeconds: 1}
	now := time.Now()
	for key := range 100_050 {
		s.Take(now, 1, 1, limit.Share[int]{Key: key, PerSecond: 1})
	}
	if n := s.Len(); n > 100_000 {
		t.Errorf("%d buckets", n)
	}
}
