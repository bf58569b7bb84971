package limit_test

import (
	"testing"
	"time"

	"patchbay/internal/limit"
)

func TestRate_GivesBurstThenTokensByTime(t *testing.T) {
	t.Parallel()
	r, now := limit.NewRate[string](2, 3), time.Now()
	for range 3 {
		if wait, _ := r.Take("a", now); wait > 0 {
			t.Fatalf("wait %v", wait)
		}
	}
	if wait, _ := r.Take("a", now); wait != 500*time.Millisecond || r.Wait("a", now) != wait {
		t.Errorf("wait %v, %v", wait, r.Wait("a", now))
	}
	if wait, _ := r.Take("b", now); wait > 0 {
		t.Errorf("another key waits %v", wait)
	}
	now = now.Add(500 * time.Millisecond)
	if wait, _ := r.Take("a", now); wait > 0 {
		t.Errorf("wait %v", wait)
	}
}

func TestRate_UndoPutsTheTokenBack(t *testing.T) {
	t.Parallel()
	r, now := limit.NewRate[string](1, 1), time.Now()
	_, undo := r.Take("a", now)
	undo()
	if wait, _ := r.Take("a", now); wait > 0 {
		t.Errorf("wait %v", wait)
	}
}

func TestRate_ChargeGoesIntoDebt(t *testing.T) {
	t.Parallel()
	r, now := limit.NewRate[string](1, 1), time.Now()
	for range 3 {
		r.Charge("a", now)
	}
	if wait := r.Wait("a", now); wait != 3*time.Second {
		t.Errorf("wait %v", wait)
	}
}

func TestRate_ZeroBoundsNothing(t *testing.T) {
	t.Parallel()
	r := limit.NewRate[string](0, 0)
	for range 10 {
		if wait, _ := r.Take("a", time.Now()); wait > 0 {
			t.Fatalf("wait %v", wait)
		}
	}
}

func TestRate_MemoryIsBounded(t *testing.T) {
	t.Parallel()
	r, now := limit.NewRate[int](1, 1), time.Now()
	for key := range 100_001 {
		_, _ = r.Take(key, now)
	}
	if n := r.Len(); n > 100_000 {
		t.Errorf("%d buckets", n)
	}
	_, _ = r.Take(-1, now.Add(time.Second)) // all are full again
	if n := r.Len(); n != 1 {
		t.Errorf("%d buckets", n)
	}
}
